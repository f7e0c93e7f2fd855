// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// Webhook is the stored form of a webhook configuration. Its secrets are encrypted.
type Webhook struct {
	ID               string
	Settings         WebhookSettings
	EncryptedSecrets []byte // encrypted secrets
	KeyVersion       string // version of the keys that encrypted them
	Health           event.ReceiverHealth
}

// WebhookSettings are the settings of a webhook made by the tenant.
type WebhookSettings struct {
	URL       string       `json:"url"`
	Events    []event.Type `json:"events"` // null means all
	Reference string       `json:"reference,omitempty"`
}

// WebhookAttempt is an attempt to deliver an event.
type WebhookAttempt struct {
	ID            string      `json:"-"`
	WebhookID     string      `json:"-"` // webhook of the receiver
	At            time.Time   `json:"-"`
	Event         event.Event `json:"event"`
	Number        int         `json:"number"`           // counted from 1
	StatusCode    int         `json:"status,omitempty"` // response status; zero if there was no response
	Error         string      `json:"error,omitempty"`  // empty if the attempt succeeded
	NextAttemptAt time.Time   `json:"next_at,omitzero"` // time of the next attempt; zero if none
}

// WebhookStore stores webhook configurations and delivery attempts.
type WebhookStore interface {
	// InsertWebhook inserts a webhook.
	InsertWebhook(ctx context.Context, webhook Webhook) error

	// GetWebhook returns a webhook, or ErrNotFound.
	GetWebhook(ctx context.Context, id string) (Webhook, error)

	// LockWebhook returns a webhook and locks it until the transaction ends.
	LockWebhook(ctx context.Context, id string) (Webhook, error)

	// ListWebhooks returns all webhooks in creation order.
	ListWebhooks(ctx context.Context) ([]Webhook, error)

	// UpdateWebhook updates a webhook, including its health.
	UpdateWebhook(ctx context.Context, webhook Webhook) error

	// UpdateWebhookHealth updates the health of a webhook, if it still exists.
	UpdateWebhookHealth(ctx context.Context, id string, health event.ReceiverHealth) error

	// DeleteWebhook deletes a webhook with its attempts and pending deliveries. It returns
	// ErrNotFound if the webhook does not exist.
	DeleteWebhook(ctx context.Context, id string) error

	// InsertWebhookAttempts inserts attempts. It ignores attempts of deleted webhooks.
	InsertWebhookAttempts(ctx context.Context, attempts []WebhookAttempt) error

	// GetWebhookAttempt returns an attempt of a webhook, or ErrNotFound.
	GetWebhookAttempt(ctx context.Context, webhookID, id string) (WebhookAttempt, error)

	// ListWebhookAttempts returns a page of the attempts of a webhook, newest first, and the
	// total number.
	ListWebhookAttempts(ctx context.Context, webhookID string, skipped, atMost int64) (page []WebhookAttempt, total int64, err error)

	// DeleteWebhookAttempts deletes at most atMost attempts from before a time and returns
	// how many.
	DeleteWebhookAttempts(ctx context.Context, before time.Time, atMost int64) (deleted int64, err error)
}

// Outbox adds and removes outbox jobs within the transaction that causes them.
type Outbox interface {
	// EnqueueDeliveries inserts delivery jobs.
	EnqueueDeliveries(ctx context.Context, deliveries []outbox.Delivery) error

	// DeleteDeliveries deletes the pending deliveries to a receiver.
	DeleteDeliveries(ctx context.Context, receiver string) error

	// ScheduleNotification schedules the notification of a survey and replaces an earlier
	// schedule.
	ScheduleNotification(ctx context.Context, surveyID string, at time.Time) error

	// DeleteNotification cancels the notification of a survey.
	DeleteNotification(ctx context.Context, surveyID string) error

	// ClaimNotification reports whether the survey's notification is scheduled for this
	// time, and clears the schedule if so. Only the first claim succeeds.
	ClaimNotification(ctx context.Context, surveyID string, at time.Time) (bool, error)
}

// JobQueue is the access to the outbox jobs of a store.
type JobQueue interface {
	// NewOutboxClient returns a client that works the jobs.
	NewOutboxClient(ctx context.Context, handlers outbox.Handlers, log *slog.Logger) (outbox.Client, error)

	// QueueStats returns the unfinished jobs per queue.
	QueueStats(ctx context.Context) ([]outbox.QueueStats, error)

	// Enqueued returns a channel that receives soon after a transaction adds jobs or changes
	// webhooks, if only this process writes to the store. It returns nil if other processes
	// write to the store too, because their changes go unnoticed.
	Enqueued() <-chan struct{}
}

// GroupByWebhook groups attempts by webhook, ordered by webhook id, so that concurrent
// writers lock webhooks in the same order and do not deadlock.
func GroupByWebhook(attempts []WebhookAttempt) iter.Seq2[string, []WebhookAttempt] {
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
