// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
)

// newInserter needs no pool: jobs are put in inside of transactions that have begun.
func newInserter() (*outbox.Inserter[pgx.Tx], error) { return outbox.NewInserter(riverpgxv5.New(nil)) }

// Enqueue implements storage.Outbox.
func (t tx) Enqueue(ctx context.Context, deliveries []outbox.Delivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	if err := t.outbox.Deliver(ctx, t.begun, deliveries); err != nil {
		return failure(ctx, "put deliveries into the outbox", err)
	}
	return nil
}

// ForgetDeliveries implements storage.Outbox.
func (t tx) ForgetDeliveries(ctx context.Context, receiver string) error {
	if err := t.outbox.Forget(ctx, t.begun, receiver); err != nil {
		return failure(ctx, "take deliveries out of the outbox", err)
	}
	return nil
}

// PutNotification implements storage.Outbox.
func (t tx) PutNotification(ctx context.Context, surveyID string, at time.Time) error {
	at = at.UTC().Truncate(time.Microsecond)
	if err := t.Queries.PutNotification(ctx, queries.PutNotificationParams{SurveyID: surveyID, At: at}); err != nil {
		return failure(ctx, "note when a notification falls due", err)
	}
	if err := t.outbox.Schedule(ctx, t.begun, outbox.Notification{SurveyID: surveyID, At: at}); err != nil {
		return failure(ctx, "put a notification into the outbox", err)
	}
	return nil
}

// DeleteNotification implements storage.Outbox. The job finds nothing to do.
func (t tx) DeleteNotification(ctx context.Context, surveyID string) error {
	if err := t.Queries.DeleteNotification(ctx, surveyID); err != nil {
		return failure(ctx, "forget when a notification falls due", err)
	}
	return nil
}

// TakeNotification implements storage.Outbox.
func (t tx) TakeNotification(ctx context.Context, surveyID string, at time.Time) (bool, error) {
	taken, err := t.Queries.TakeNotification(ctx, queries.TakeNotificationParams{SurveyID: surveyID, At: at})
	if err != nil {
		return false, failure(ctx, "take a notification that is due", err)
	}
	return taken > 0, nil
}

// NewClient implements storage.Jobs.
func (s *Store) NewClient(_ context.Context, handlers outbox.Handlers, log *slog.Logger) (outbox.Client, error) {
	if !s.gate.opened.Load() {
		return nil, storage.ErrNotOpen
	}
	return outbox.NewClient(riverpgxv5.New(s.pool), handlers, log)
}

// Waiting implements storage.Jobs.
func (s *Store) Waiting(ctx context.Context) ([]outbox.Waiting, error) {
	rows, err := s.queries.Waiting(ctx)
	if err != nil {
		return nil, failure(ctx, "ask what is in the outbox", err)
	}
	waiting := make([]outbox.Waiting, len(rows))
	for i, row := range rows {
		waiting[i] = outbox.Waiting{Queue: row.Queue, Jobs: row.Jobs, Running: row.Running, Next: row.Next.UTC()}
	}
	return waiting, nil
}

// Enqueued implements storage.Jobs: other replicas put in as much, unseen.
func (*Store) Enqueued() <-chan struct{} { return nil }
