// SPDX-License-Identifier: Apache-2.0

package webhookconfig

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/oapi-codegen/nullable"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	anamnesis "github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

// Reasons why an Instance does not do what it is asked for.
const (
	reasonCredentialsAwaited   = "CredentialsAwaited"
	reasonTooManySubscriptions = "TooManySubscriptions"
	reasonRefusedByInstance    = "RefusedByInstance"
)

// subscriptions are those of one Instance, by its API.
type subscriptions struct {
	api *guidance.API
	// token never shows in an error, whatever the server answers.
	token string
}

// list gives all, in the order in which they were made.
func (s subscriptions) list(ctx context.Context) ([]subscription, error) {
	found, err := s.api.ListWebhooks(ctx)
	if err != nil {
		return nil, s.explain("listing subscriptions", err)
	}
	all := make([]subscription, len(found))
	for i, one := range found {
		all[i] = subscription{id: one.ID.String(), url: one.URL, events: texts(one.SubscribedEvents), status: string(one.Status)}
		if one.Reference != nil {
			all[i].reference = *one.Reference
		}
	}
	return all, nil
}

func texts(events []guidance.WebhookEvent) []string {
	all := make([]string, len(events))
	for i, event := range events {
		all[i] = string(event)
	}
	return all
}

// create makes one, and gives it with its signing secret.
func (s subscriptions) create(ctx context.Context, wanted wish) (made subscription, secret string, err error) {
	answer, err := s.api.CreateWebhook(ctx, guidance.NewWebhook{
		URL: &wanted.url, AuthorizationToken: &wanted.token, SubscribedEvents: &wanted.events, Reference: &wanted.reference,
	})
	if err != nil {
		return subscription{}, "", s.explain("subscribing", err)
	}
	made = subscription{id: answer.ID.String(), url: answer.URL, events: texts(answer.SubscribedEvents), reference: wanted.reference, status: string(answer.Status)}
	return made, answer.SigningSecret, checkSecret(answer.SigningSecret)
}

// change makes one be as a wish says, in what differs, and gives it as it is then.
func (s subscriptions) change(ctx context.Context, id string, wanted wish, what change) (subscription, error) {
	var body guidance.WebhookChange
	if what.url {
		body.URL = &wanted.url
	}
	if what.events {
		body.SubscribedEvents = &wanted.events
	}
	if what.reference {
		body.Reference = nullable.NewNullableWithValue(wanted.reference)
	}
	if what.token {
		body.AuthorizationToken = &wanted.token
	}
	parsed, err := uuid.Parse(id)
	if err != nil {
		return subscription{}, fmt.Errorf("changing subscription %q: %w", id, err)
	}
	answer, err := s.api.ChangeWebhook(ctx, parsed, body)
	if err != nil {
		return subscription{}, s.explain("changing the subscription", err)
	}
	changed := subscription{id: id, url: answer.URL, events: texts(answer.SubscribedEvents), status: string(answer.Status)}
	if answer.Reference != nil {
		changed.reference = *answer.Reference
	}
	return changed, nil
}

// delete ends one; that it is gone already is no error.
func (s subscriptions) delete(ctx context.Context, id string) error {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return fmt.Errorf("deleting subscription %q: %w", id, err)
	}
	if _, err := s.api.DeleteWebhook(ctx, parsed); err != nil && !isStatus(err, http.StatusNotFound) {
		return s.explain("deleting the subscription", err)
	}
	return nil
}

// rotate gives one another signing secret.
func (s subscriptions) rotate(ctx context.Context, id string) (secret string, err error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return "", fmt.Errorf("rotating the secret of subscription %q: %w", id, err)
	}
	answer, err := s.api.RotateWebhookSecret(ctx, parsed)
	if err != nil {
		return "", s.explain("asking for another signing secret", err)
	}
	return answer.SigningSecret, checkSecret(answer.SigningSecret)
}

// lastDelivery gives the latest attempt to tell the receiver something; nil for
// none.
func (s subscriptions) lastDelivery(ctx context.Context, id string) (*v1alpha1.LastDelivery, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return nil, fmt.Errorf("looking for deliveries of subscription %q: %w", id, err)
	}
	page, err := s.api.ListDeliveries(ctx, parsed, &guidance.ListDeliveriesParams{Limit: new(1)})
	if err != nil {
		return nil, s.explain("looking for deliveries", err)
	}
	if len(page.Items) == 0 {
		return nil, nil
	}
	// In whole seconds, as a status has it: what is finer would differ for ever.
	last := &v1alpha1.LastDelivery{Time: metav1.NewTime(page.Items[0].AttemptedAt.UTC().Truncate(time.Second))}
	if code := page.Items[0].StatusCode; code != nil {
		last.StatusCode = int32(min(max(*code, 0), 999))
	}
	return last, nil
}

// signingSecret is what the API shows receivers to verify by.
var signingSecret = regexp.MustCompile(`^whsec_[A-Za-z0-9+/=_-]{16,256}$`)

func checkSecret(secret string) error {
	if !signingSecret.MatchString(secret) {
		return errors.New("the Instance gave a signing secret that is none: it should begin with whsec_")
	}
	return nil
}

func isStatus(err error, status int) bool {
	refused, ok := errors.AsType[*anamnesis.Error](err)
	return ok && refused.Status == status
}

// explain turns what kept a call from succeeding into the kind of error that it is.
// Its words are the same each time, so that a status says them once, and hold no
// token.
func (s subscriptions) explain(doing string, err error) error {
	refused, ok := errors.AsType[*anamnesis.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", doing, s.steady(err))
	}
	said := s.clean(describe(refused))
	switch refused.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return problem.Waiting("", reasonCredentialsAwaited, "%s: the server does not take the operator's key yet, which reaches its pods within two minutes: %s", doing, said)
	case http.StatusConflict:
		return problem.Waiting("", reasonTooManySubscriptions, "%s: %s; delete others of this Instance, or WebhookConfigs that are not needed", doing, said)
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return problem.Stalled("", reasonRefusedByInstance, "%s: %s", doing, said)
	case http.StatusNotFound:
		return fmt.Errorf("%s: %w", doing, errNotThere)
	}
	return fmt.Errorf("%s: the Instance answered with %d: %s", doing, refused.Status, said)
}

// errNotThere is the answer to a call about what is not there: a subscription that
// ended meanwhile, or an API without webhooks.
var errNotThere = errors.New("the Instance says that there is no such thing")

func describe(refused *anamnesis.Error) string {
	words := make([]string, 0, 1+len(refused.Fields))
	words = append(words, refused.Message)
	for _, field := range refused.Fields {
		words = append(words, field.Field+": "+field.Message)
	}
	return strings.Join(words, "; ")
}

// longestAnswer is as much of an answer as people are shown, in bytes.
const longestAnswer = 300

func (s subscriptions) clean(text string) string {
	if s.token != "" {
		text = strings.ReplaceAll(text, s.token, "(the token)")
	}
	if len(text) > longestAnswer {
		text = text[:longestAnswer] + "…"
	}
	return strings.ToValidUTF8(text, "?")
}

// steady leaves out of an error what differs from try to try: ports of this host.
func (s subscriptions) steady(err error) error {
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s: %w", failed.Op, failed.Err)
	}
	return err
}
