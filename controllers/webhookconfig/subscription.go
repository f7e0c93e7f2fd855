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
	// token is redacted from all errors, because a server may return it in a response.
	token string
}

// list returns all subscriptions, ordered by creation time.
func (s subscriptionClient) list(ctx context.Context) ([]subscription, error) {
	found, err := s.api.ListWebhooks(ctx)
	if err != nil {
		return nil, s.classifyError("listing subscriptions", err)
	}
	all := make([]subscription, len(found))
	for i, webhook := range found {
		all[i] = subscription{id: webhook.ID.String(), url: webhook.URL, events: eventNames(webhook.SubscribedEvents), status: string(webhook.Status)}
		if webhook.Reference != nil {
			all[i].reference = *webhook.Reference
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
func (s subscriptionClient) create(ctx context.Context, desired desiredSubscription) (created subscription, secret string, err error) {
	response, err := s.api.CreateWebhook(ctx, guidance.NewWebhook{
		URL: &desired.url, AuthorizationToken: &desired.token, SubscribedEvents: &desired.events, Reference: &desired.reference,
	})
	if err != nil {
		return subscription{}, "", s.classifyError("subscribing", err)
	}
	created = subscription{id: response.ID.String(), url: response.URL, events: eventNames(response.SubscribedEvents), reference: desired.reference, status: string(response.Status)}
	return created, response.SigningSecret, validateSigningSecret(response.SigningSecret)
}

// update updates the given fields of a subscription to their desired values, and returns
// the result.
func (s subscriptionClient) update(ctx context.Context, id string, desired desiredSubscription, change changedFields) (subscription, error) {
	var body guidance.WebhookChange
	if change.url {
		body.URL = &desired.url
	}
	if change.events {
		body.SubscribedEvents = &desired.events
	}
	if change.reference {
		body.Reference = nullable.NewNullableWithValue(desired.reference)
	}
	if change.token {
		body.AuthorizationToken = &desired.token
	}
	parsed, err := uuid.Parse(id)
	if err != nil {
		return subscription{}, fmt.Errorf("updating subscription %q: %w", id, err)
	}
	response, err := s.api.ChangeWebhook(ctx, parsed, body)
	if err != nil {
		return subscription{}, s.classifyError("updating the subscription", err)
	}
	changed := subscription{id: id, url: response.URL, events: eventNames(response.SubscribedEvents), status: string(response.Status)}
	if response.Reference != nil {
		changed.reference = *response.Reference
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
	response, err := s.api.RotateWebhookSecret(ctx, parsed)
	if err != nil {
		return "", s.classifyError("rotating the signing secret", err)
	}
	return response.SigningSecret, validateSigningSecret(response.SigningSecret)
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
	// A status has a precision of seconds. A more precise time would always differ.
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
		return errors.New("invalid signing secret in the Instance's response: expected the prefix whsec_ and at least 16 characters")
	}
	return nil
}

func isStatus(err error, status int) bool {
	apiErr, ok := errors.AsType[*anamnesis.Error](err)
	return ok && apiErr.Status == status
}

// classifyError converts the error of a call into a problem. The message does not change
// between retries, so that the status does not change, and does not contain the token.
func (s subscriptionClient) classifyError(action string, err error) error {
	apiErr, ok := errors.AsType[*anamnesis.Error](err)
	if !ok {
		return fmt.Errorf("%s: %w", action, s.stripVolatileDetails(err))
	}
	message := s.redact(formatAPIError(apiErr))
	switch apiErr.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return problem.Waiting("", reasonCredentialsPropagating, "%s: the server does not accept the operator's key yet; the key reaches the pods within two minutes: %s", action, message)
	case http.StatusConflict:
		return problem.Waiting("", reasonSubscriptionLimitReached, "%s: %s; delete unused subscriptions or WebhookConfigs of this Instance", action, message)
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return problem.Stalled("", reasonSubscriptionRejected, "%s: %s", action, message)
	case http.StatusNotFound:
		return fmt.Errorf("%s: %w", action, errNotFound)
	}
	return fmt.Errorf("%s: the Instance responded with status %d: %s", action, apiErr.Status, message)
}

// errNotFound means that the object of a call does not exist: the subscription was
// deleted in the meantime, or the server does not support webhooks.
var errNotFound = errors.New("the Instance responded with 404 Not Found")

func formatAPIError(apiErr *anamnesis.Error) string {
	words := make([]string, 0, 1+len(apiErr.Fields))
	words = append(words, apiErr.Message)
	for _, field := range apiErr.Fields {
		words = append(words, field.Field+": "+field.Message)
	}
	return strings.Join(words, "; ")
}

// maxErrorLength is the maximum length of a reported error response, in bytes.
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

// stripVolatileDetails removes details that change between retries, such as local port
// numbers, from an error.
func (s subscriptionClient) stripVolatileDetails(err error) error {
	if failed, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%s: %w", failed.Op, failed.Err)
	}
	return err
}
