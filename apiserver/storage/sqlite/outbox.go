// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"github.com/riverqueue/river/riverdriver/riversqlite"

	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
)

// newInserter needs no database: jobs are put in inside of transactions that have begun.
func newInserter() (*outbox.Inserter[*sql.Tx], error) {
	return outbox.NewInserter(riversqlite.New(nil))
}

// Enqueue implements storage.Outbox.
func (t tx) Enqueue(ctx context.Context, deliveries []outbox.Delivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	if err := t.outbox.Deliver(ctx, t.begun, deliveries); err != nil {
		return failure("put deliveries into the outbox", err)
	}
	t.enqueued()
	return nil
}

// ForgetDeliveries implements storage.Outbox.
func (t tx) ForgetDeliveries(ctx context.Context, receiver string) error {
	if err := t.outbox.Forget(ctx, t.begun, receiver); err != nil {
		return failure("take deliveries out of the outbox", err)
	}
	return nil
}

// PutNotification implements storage.Outbox.
func (t tx) PutNotification(ctx context.Context, surveyID string, at time.Time) error {
	err := t.Queries.PutNotification(ctx, queries.PutNotificationParams{SurveyID: surveyID, At: at.UnixMicro()})
	if err != nil {
		return failure("note when a notification falls due", err)
	}
	if err := t.outbox.Schedule(ctx, t.begun, outbox.Notification{SurveyID: surveyID, At: at}); err != nil {
		return failure("put a notification into the outbox", err)
	}
	t.enqueued()
	return nil
}

// DeleteNotification implements storage.Outbox. The job finds nothing to do.
func (t tx) DeleteNotification(ctx context.Context, surveyID string) error {
	if err := t.Queries.DeleteNotification(ctx, surveyID); err != nil {
		return failure("forget when a notification falls due", err)
	}
	return nil
}

// TakeNotification implements storage.Outbox.
func (t tx) TakeNotification(ctx context.Context, surveyID string, at time.Time) (bool, error) {
	taken, err := t.Queries.TakeNotification(ctx, queries.TakeNotificationParams{SurveyID: surveyID, At: at.UnixMicro()})
	if err != nil {
		return false, failure("take a notification that is due", err)
	}
	return taken > 0, nil
}

// NewClient implements storage.Jobs. There is no other client of this file: what one
// was doing that was killed is done again.
func (s *Store) NewClient(ctx context.Context, handlers outbox.Handlers, log *slog.Logger) (outbox.Client, error) {
	db, err := s.writing()
	if err != nil {
		return nil, err
	}
	err = s.transact(ctx, func(q *queries.Queries) error {
		if err := q.ResumeJobs(ctx); err != nil {
			return err
		}
		return q.DeleteLeader(ctx)
	})
	if err != nil {
		return nil, failure("take up what a former process was doing", err)
	}
	return outbox.NewClient(riversqlite.New(db.DB), handlers, log)
}

// Waiting implements storage.Jobs.
func (s *Store) Waiting(ctx context.Context) ([]outbox.Waiting, error) {
	read, err := s.reading()
	if err != nil {
		return nil, err
	}
	rows, err := read.Waiting(ctx)
	if err != nil {
		return nil, failure("ask what is in the outbox", err)
	}
	waiting := make([]outbox.Waiting, len(rows))
	for i, row := range rows {
		waiting[i] = outbox.Waiting{Queue: row.Queue, Jobs: row.Jobs, Running: row.Running, Next: time.UnixMicro(row.Next).UTC()}
	}
	return waiting, nil
}

// Enqueued implements storage.Jobs: nobody else writes to the file.
func (s *Store) Enqueued() <-chan struct{} { return s.told }
