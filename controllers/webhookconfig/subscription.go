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
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Reasons why an Instance fails a request.
const (
	reasonCredentialsPropagating   = "CredentialsPropagating"
	reasonSubscriptionLimitReached = "SubscriptionLimitReached"
	reasonSubscriptionRejected     = "RejectedByInstance"
)

// subscriptionClient manages the subscriptions of one Instance through its API.
type subscriptionClient struct {
	api *guidance.API
	// token is redacted from all errors, whatever the server responds.
	token string
}

// list returns all subscriptions, in order of creation.
func (s subscriptionClient) list(ctx context.Context) ([]subscription, error) {
	found, err := s.api.ListWebhooks(ctx)
	if err != nil {
		return nil, s.classifyError("listing subscriptions", err)
	}
	all := make([]subscription, len(found))
	for i, one := range found {
		all[i] = subscription{id: one.ID.String(), url: one.URL, events: eventNames(one.SubscribedEvents), status: string(one.Status)}
		if one.Reference != nil {
			all[i].reference = *one.Reference
		}
	}
	return all, nil
}

func eventNames(events []guidance.WebhookEvent) []string {
	all := make([]string, len(events))
	for i, event := range events {
		all[i] = string(event)
	}
	return all
}

// create creates a subscription, and returns it with its signing secret.
func (s subscriptionClient) create(ctx context.Context, wanted desiredSubscription) (made subscription, secret string, err error) {
	answer, err := s.api.CreateWebhook(ctx, guidance.NewWebhook{
		URL: &wanted.url, AuthorizationToken: &wanted.token, SubscribedEvents: &wanted.events, Reference: &wanted.reference,
	})
	if err != nil {
		return subscription{}, "", s.classifyError("subscribing", err)
	}
	made = subscription{id: answer.ID.String(), url: answer.URL, events: eventNames(answer.SubscribedEvents), reference: wanted.reference, status: string(answer.Status)}
	return made, answer.SigningSecret, validateSigningSecret(answer.SigningSecret)
}

// update updates the given fields of a subscription to their desired values, and returns
// the result.
func (s subscriptionClient) update(ctx context.Context, id string, wanted desiredSubscription, what changedFields) (subscription, error) {
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
		return subscription{}, fmt.Errorf("updating subscription %q: %w", id, err)
	}
	answer, err := s.api.ChangeWebhook(ctx, parsed, body)
	if err != nil {
		return subscription{}, s.classifyError("updating the subscription", err)
	}
	changed := subscription{id: id, url: answer.URL, events: eventNames(answer.SubscribedEvents), status: string(answer.Status)}
	if answer.Reference != nil {
		changed.reference = *answer.Reference
	}
	return changed, nil
}

// delete deletes a subscription. A missing subscription is not an error.
func (s subscriptionClient) delete(ctx context.Context, id string) error {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return fmt.Errorf("deleting subscription %q: %w", id, err)
	}
	if _, err := s.api.DeleteWebhook(ctx, parsed); err != nil && !isStatus(err, http.StatusNotFound) {
		return s.classifyError("deleting the subscription", err)
	}
	return nil
}

// rotate replaces the signing secret of a subscription and returns the new one.
func (s subscriptionClient) rotate(ctx context.Context, id string) (secret string, err error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return "", fmt.Errorf("rotating the secret of subscription %q: %w", id, err)
	}
	answer, err := s.api.RotateWebhookSecret(ctx, parsed)
	if err != nil {
		return "", s.classifyError("rotating the signing secret", err)
	}
	return answer.SigningSecret, validateSigningSecret(answer.SigningSecret)
}

// lastDelivery returns the last delivery attempt, or nil before the first attempt.
func (s subscriptionClient) lastDelivery(ctx context.Context, id string) (*v1alpha1.LastDelivery, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return nil, fmt.Errorf("listing deliveries of subscription %q: %w", id, err)
	}
	page, err := s.api.ListDeliveries(ctx, parsed, &guidance.ListDeliveriesParams{Limit: new(1)})
	if err != nil {
		return nil, s.classifyError("listing deliveries", err)
	}
	if len(page.Items) == 0 {
		return nil, nil
	}
	// Truncated to whole seconds, the precision of a status: finer times would always
	// differ.
	last := &v1alpha1.LastDelivery{Time: metav1.NewTime(page.Items[0].AttemptedAt.UTC().Truncate(time.Second))}
	if code := page.Items[0].StatusCode; code != nil {
		last.StatusCode = int32(min(max(*code, 0), 999))
	}
	return last, nil
}

// signingSecretPattern matches the signing secrets that the API returns.
var signingSecretPattern = regexp.MustCompile(`^whsec_[A-Za-z0-9+/=_-]{16,256}$`)

func validateSigningSecret(secret string) error {
	if !signingSecretPattern.MatchString(secret) {
		return errors.New("the Instance returned an invalid signing secret: expected the prefix whsec_ and at least 16 characters")
	}
	return nil
}

func isStatus(err error, status int) bool {
	refused, ok := errors.AsType[*anamnesis.Error](err)
	return ok && refused.Status == status
}

// classifyError converts the error of a call into a problem. The messages are the same
// on each retry, so that the status does not change, and contain no token.
func (s subscriptionClient) classifyError(doing string, err error) error {
	refused, ok := errors.AsType[*anamnesis.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", doing, s.stripVolatileDetails(err))
	}
	said := s.redact(formatAPIError(refused))
	switch refused.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return problem.Waiting("", reasonCredentialsPropagating, "%s: the server does not accept the operator's key yet: it reaches the pods within two minutes: %s", doing, said)
	case http.StatusConflict:
		return problem.Waiting("", reasonSubscriptionLimitReached, "%s: %s; delete unused subscriptions or WebhookConfigs of this Instance", doing, said)
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return problem.Stalled("", reasonSubscriptionRejected, "%s: %s", doing, said)
	case http.StatusNotFound:
		return fmt.Errorf("%s: %w", doing, errNotFound)
	}
	return fmt.Errorf("%s: the Instance responded with status %d: %s", doing, refused.Status, said)
}

// errNotFound means that the object of a call does not exist: the subscription was
// deleted in the meantime, or the server does not support webhooks.
var errNotFound = errors.New("the Instance responded with 404 Not Found")

func formatAPIError(refused *anamnesis.Error) string {
	words := make([]string, 0, 1+len(refused.Fields))
	words = append(words, refused.Message)
	for _, field := range refused.Fields {
		words = append(words, field.Field+": "+field.Message)
	}
	return strings.Join(words, "; ")
}

// maxErrorLength limits how much of an error response is shown, in bytes.
const maxErrorLength = 300

func (s subscriptionClient) redact(text string) string {
	if s.token != "" {
		text = strings.ReplaceAll(text, s.token, "[redacted]")
	}
	if len(text) > maxErrorLength {
		text = text[:maxErrorLength] + "…"
	}
	return strings.ToValidUTF8(text, "?")
}

// stripVolatileDetails removes from an error what differs between retries: local port
// numbers.
func (s subscriptionClient) stripVolatileDetails(err error) error {
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s: %w", failed.Op, failed.Err)
	}
	return err
}
