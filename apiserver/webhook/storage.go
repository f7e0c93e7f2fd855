// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
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
	ListWebhookAttempts(ctx context.Context, webhookID string, offset, limit int64) (page []event.Attempt, total int64, err error)
}

// PublishTx is a transaction that causes events and notifications.
type PublishTx interface {
	ListWebhooks(ctx context.Context) ([]event.Webhook, error)
	EnqueueDeliveries(ctx context.Context, deliveries []outbox.Delivery) error
	// ScheduleNotification schedules the notification of a survey and replaces an earlier
	// schedule.
	ScheduleNotification(ctx context.Context, surveyID string, at time.Time) error
	DeleteNotification(ctx context.Context, surveyID string) error
}

// Tx is a transaction.
type Tx interface {
	PublishTx

	InsertWebhook(ctx context.Context, webhook event.Webhook) error
	GetWebhook(ctx context.Context, id string) (event.Webhook, error)
	// LockWebhook returns a webhook and locks it until the transaction ends.
	LockWebhook(ctx context.Context, id string) (event.Webhook, error)
	UpdateWebhook(ctx context.Context, webhook event.Webhook) error
	// DeleteWebhook deletes a webhook with its attempts and pending deliveries.
	DeleteWebhook(ctx context.Context, id string) error
	GetWebhookAttempt(ctx context.Context, webhookID, id string) (event.Attempt, error)

	// ClaimNotification reports whether the survey's notification is scheduled for this
	// time, and clears the schedule if so.
	ClaimNotification(ctx context.Context, surveyID string, at time.Time) (bool, error)
	GetSurvey(ctx context.Context, id string) (record.Survey, error)
	GetPatient(ctx context.Context, id string) (record.Patient, error)

	InsertAuditRecord(ctx context.Context, record audit.Record) error
}
