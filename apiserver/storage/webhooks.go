// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"log/slog"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// WebhookReader reads webhook configurations and delivery attempts.
type WebhookReader interface {
	// GetWebhook returns a webhook, or record.ErrNotFound.
	GetWebhook(ctx context.Context, id string) (event.Webhook, error)

	// ListWebhooks returns all webhooks in creation order.
	ListWebhooks(ctx context.Context) ([]event.Webhook, error)

	// GetWebhookAttempt returns an attempt of a webhook, or record.ErrNotFound.
	GetWebhookAttempt(ctx context.Context, webhookID, id string) (event.Attempt, error)

	// ListWebhookAttempts returns a page of the attempts of a webhook, newest first, and the
	// total number.
	ListWebhookAttempts(ctx context.Context, webhookID string, offset, limit int64) (page []event.Attempt, total int64, err error)
}

// WebhookStore stores webhook configurations and delivery attempts.
type WebhookStore interface {
	WebhookReader

	// InsertWebhook inserts a webhook.
	InsertWebhook(ctx context.Context, webhook event.Webhook) error

	// LockWebhook returns a webhook and locks it until the transaction ends.
	LockWebhook(ctx context.Context, id string) (event.Webhook, error)

	// UpdateWebhook updates a webhook, including its health.
	UpdateWebhook(ctx context.Context, webhook event.Webhook) error

	// UpdateWebhookHealth updates the health of a webhook, if it still exists.
	UpdateWebhookHealth(ctx context.Context, id string, health event.ReceiverHealth) error

	// DeleteWebhook deletes a webhook with its attempts and pending deliveries. It returns
	// record.ErrNotFound if the webhook does not exist.
	DeleteWebhook(ctx context.Context, id string) error

	// InsertWebhookAttempts inserts attempts. It ignores attempts of deleted webhooks.
	InsertWebhookAttempts(ctx context.Context, attempts []event.Attempt) error

	// DeleteWebhookAttempts deletes attempts made before a time, at most limit of them, and
	// returns the number deleted.
	DeleteWebhookAttempts(ctx context.Context, before time.Time, limit int64) (deleted int64, err error)
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

// JobQueue provides access to the outbox jobs of a store.
type JobQueue interface {
	// NewOutboxClient returns a client that works the jobs.
	NewOutboxClient(ctx context.Context, handlers outbox.Handlers, log *slog.Logger) (outbox.Client, error)

	// QueueStats returns the unfinished jobs per queue.
	QueueStats(ctx context.Context) ([]outbox.QueueStats, error)

	// Enqueued returns a channel that receives soon after a transaction adds jobs or changes
	// webhooks. It returns nil if other processes also write to the store, because their
	// changes cannot be signaled.
	Enqueued() <-chan struct{}
}
