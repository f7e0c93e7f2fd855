// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
)

// Webhook is the configuration of a receiver of events as a store has it: its secrets
// cannot be read from it.
type Webhook struct {
	ID         string
	Settings   WebhookSettings
	Secrets    []byte // sealed
	Generation string // of the keys that sealed them
	Health     events.Health
}

// WebhookSettings are what the tenant set.
type WebhookSettings struct {
	URL       string        `json:"url"`
	Events    []events.Type `json:"events"` // null for all
	Reference string        `json:"reference,omitempty"`
}

// WebhookAttempt is one try to tell a receiver of an event.
type WebhookAttempt struct {
	ID        string       `json:"-"`
	WebhookID string       `json:"-"` // whose receiver it is
	At        time.Time    `json:"-"`
	Event     events.Event `json:"event"`
	Number    int          `json:"number"`           // which attempt it was, from 1 on
	Status    int          `json:"status,omitempty"` // that the receiver answered; zero when it did not
	Error     string       `json:"error,omitempty"`  // why it failed; empty when it did not
	NextAt    time.Time    `json:"next_at,omitzero"` // when it is tried again; zero for never
}

// Webhooks are who is told of events, and how that went.
type Webhooks interface {
	// InsertWebhook keeps a new configuration.
	InsertWebhook(ctx context.Context, webhook Webhook) error

	// Webhook returns a configuration, or ErrNotFound.
	Webhook(ctx context.Context, id string) (Webhook, error)

	// LockWebhook is Webhook, and nobody else changes the configuration meanwhile.
	LockWebhook(ctx context.Context, id string) (Webhook, error)

	// Webhooks returns all configurations, in the order in which they were made.
	Webhooks(ctx context.Context) ([]Webhook, error)

	// UpdateWebhook puts a configuration, with its health, in the place of the one that
	// is kept.
	UpdateWebhook(ctx context.Context, webhook Webhook) error

	// UpdateWebhookHealth puts the health of a configuration in the place of what is
	// kept, if there still is one.
	UpdateWebhookHealth(ctx context.Context, id string, health events.Health) error

	// DeleteWebhook erases a configuration, with its attempts and what was still to be
	// delivered, or is ErrNotFound.
	DeleteWebhook(ctx context.Context, id string) error

	// InsertWebhookAttempts keeps attempts. Those of configurations that are gone are
	// left out.
	InsertWebhookAttempts(ctx context.Context, attempts []WebhookAttempt) error

	// WebhookAttempt returns an attempt of a configuration, or ErrNotFound.
	WebhookAttempt(ctx context.Context, webhookID, id string) (WebhookAttempt, error)

	// WebhookAttempts leaves out the first skipped attempts of a configuration, the
	// latest first, and returns the next ones, and how many there are in all.
	WebhookAttempts(ctx context.Context, webhookID string, skipped, atMost int64) (page []WebhookAttempt, total int64, err error)

	// DeleteWebhookAttempts erases attempts from before an instant, at most so many, and
	// says how many.
	DeleteWebhookAttempts(ctx context.Context, before time.Time, atMost int64) (deleted int64, err error)
}

// Outbox is what is still to be told, in the transaction of what it tells of.
type Outbox interface {
	// Enqueue puts in deliveries.
	Enqueue(ctx context.Context, deliveries []outbox.Delivery) error

	// ForgetDeliveries takes out what a receiver was still to be told.
	ForgetDeliveries(ctx context.Context, receiver string) error

	// PutNotification has a notification of a survey fall due at a time, and at no
	// other.
	PutNotification(ctx context.Context, surveyID string, at time.Time) error

	// DeleteNotification has no notification of a survey fall due any more.
	DeleteNotification(ctx context.Context, surveyID string) error

	// TakeNotification says whether a survey's notification is to be given that falls
	// due at a time, and from then on that it is not.
	TakeNotification(ctx context.Context, surveyID string, at time.Time) (bool, error)
}

// Jobs are what is in the outbox of a store, to be done.
type Jobs interface {
	// NewClient makes a client that does them.
	NewClient(ctx context.Context, handlers outbox.Handlers, log *slog.Logger) (outbox.Client, error)

	// Waiting says what is to be done.
	Waiting(ctx context.Context) ([]outbox.Waiting, error)

	// Enqueued is told, soon after, of transactions that put something in or changed
	// who is told, where nobody but this process does that. It is nil where others do,
	// who are not seen.
	Enqueued() <-chan struct{}
}

// ByWebhook sorts attempts out by whose they are, in the order of their ids, so that
// those who keep some at the same time do not wait for each other in a circle.
func ByWebhook(attempts []WebhookAttempt) iter.Seq2[string, []WebhookAttempt] {
	sorted := slices.SortedStableFunc(slices.Values(attempts), func(a, b WebhookAttempt) int {
		return strings.Compare(a.WebhookID, b.WebhookID)
	})
	return func(yield func(string, []WebhookAttempt) bool) {
		for len(sorted) > 0 {
			id := sorted[0].WebhookID
			end := slices.IndexFunc(sorted, func(a WebhookAttempt) bool { return a.WebhookID != id })
			if end < 0 {
				end = len(sorted)
			}
			if !yield(id, sorted[:end]) {
				return
			}
			sorted = sorted[end:]
		}
	}
}
