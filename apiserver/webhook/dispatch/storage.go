// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"log/slog"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// Storage runs transactions.
type Storage interface {
	// View runs work in a read-only transaction.
	View(ctx context.Context, work func(Reader) error) error
	// Transact runs work in a transaction and commits it if work returns nil. On conflicts
	// with concurrent transactions it runs work again.
	Transact(ctx context.Context, work func(Tx) error) error
}

// Reader is a read-only transaction.
type Reader interface {
	GetWebhook(ctx context.Context, id string) (event.Webhook, error)
	ListWebhooks(ctx context.Context) ([]event.Webhook, error)
}

// Tx is a transaction.
type Tx interface {
	// LockWebhook returns a webhook and locks it until the transaction ends.
	LockWebhook(ctx context.Context, id string) (event.Webhook, error)
	UpdateWebhookHealth(ctx context.Context, id string, health event.ReceiverHealth) error
	DeleteDeliveries(ctx context.Context, receiver string) error
	InsertWebhookAttempts(ctx context.Context, attempts []event.Attempt) error
	DeleteWebhookAttempts(ctx context.Context, before time.Time, limit int64) (deleted int64, err error)
}

// Queue holds the jobs of the outbox.
type Queue interface {
	// NewOutboxClient returns a client that works the jobs.
	NewOutboxClient(ctx context.Context, handlers outbox.Handlers, log *slog.Logger) (outbox.Client, error)
	// QueueStats returns the unfinished jobs per queue.
	QueueStats(ctx context.Context) ([]outbox.QueueStats, error)
	// Enqueued returns a channel that receives soon after a transaction adds jobs or changes
	// webhooks. It returns nil if other processes also write to the storage, because their
	// changes cannot be signaled.
	Enqueued() <-chan struct{}
}
