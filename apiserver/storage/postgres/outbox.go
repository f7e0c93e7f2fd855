// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// newInserter needs no pool: jobs are inserted in transactions that already exist.
func newInserter() (*outbox.Inserter[pgx.Tx], error) { return outbox.NewInserter(riverpgxv5.New(nil)) }

// EnqueueDeliveries implements storage.Outbox.
func (t tx) EnqueueDeliveries(ctx context.Context, deliveries []outbox.Delivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	if err := t.outbox.InsertDeliveries(ctx, t.pgxTx, deliveries); err != nil {
		return wrapError(ctx, "enqueuing deliveries", err)
	}
	return nil
}

// DeleteDeliveries implements storage.Outbox.
func (t tx) DeleteDeliveries(ctx context.Context, receiver string) error {
	if err := t.outbox.DeleteDeliveries(ctx, t.pgxTx, receiver); err != nil {
		return wrapError(ctx, "deleting deliveries from the outbox", err)
	}
	return nil
}

// ScheduleNotification implements storage.Outbox.
func (t tx) ScheduleNotification(ctx context.Context, surveyID string, at time.Time) error {
	at = at.UTC().Truncate(time.Microsecond)
	if err := t.PutNotification(ctx, queries.PutNotificationParams{SurveyID: surveyID, At: at}); err != nil {
		return wrapError(ctx, "scheduling notification", err)
	}
	if err := t.outbox.ScheduleNotification(ctx, t.pgxTx, outbox.Notification{SurveyID: surveyID, DueAt: at}); err != nil {
		return wrapError(ctx, "enqueuing notification", err)
	}
	return nil
}

// DeleteNotification implements storage.Outbox. The job stays and does nothing.
func (t tx) DeleteNotification(ctx context.Context, surveyID string) error {
	if err := t.Queries.DeleteNotification(ctx, surveyID); err != nil {
		return wrapError(ctx, "unscheduling notification", err)
	}
	return nil
}

// ClaimNotification implements storage.Outbox.
func (t tx) ClaimNotification(ctx context.Context, surveyID string, at time.Time) (bool, error) {
	taken, err := t.TakeNotification(ctx, queries.TakeNotificationParams{SurveyID: surveyID, At: at})
	if err != nil {
		return false, wrapError(ctx, "claiming due notification", err)
	}
	return taken > 0, nil
}

// NewOutboxClient implements storage.JobQueue.
func (s *Store) NewOutboxClient(_ context.Context, handlers outbox.Handlers, log *slog.Logger) (outbox.Client, error) {
	if !s.gate.ready.Load() {
		return nil, storage.ErrNotOpen
	}
	return outbox.NewClient(riverpgxv5.New(s.pool), handlers, log)
}

// QueueStats implements storage.JobQueue.
func (s *Store) QueueStats(ctx context.Context) ([]outbox.QueueStats, error) {
	rows, err := s.queries.Waiting(ctx)
	if err != nil {
		return nil, wrapError(ctx, "reading outbox statistics", err)
	}
	waiting := make([]outbox.QueueStats, len(rows))
	for i, row := range rows {
		waiting[i] = outbox.QueueStats{Queue: row.Queue, Jobs: row.Jobs, Running: row.Running, NextDueAt: row.Next.UTC()}
	}
	return waiting, nil
}

// Enqueued implements storage.JobQueue. It returns nil because other replicas insert
// jobs too.
func (*Store) Enqueued() <-chan struct{} { return nil }
