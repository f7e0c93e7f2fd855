// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"github.com/riverqueue/river/riverdriver/riversqlite"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// newInserter needs no database: jobs are inserted in transactions that already exist.
func newInserter() (*outbox.Inserter[*sql.Tx], error) {
	return outbox.NewInserter(riversqlite.New(nil))
}

// NewOutboxClient implements storage.JobQueue. No other process uses the file, so jobs
// still marked as running belong to a killed process and are retried.
func (s *Store) NewOutboxClient(ctx context.Context, handlers outbox.Handlers, log *slog.Logger) (outbox.Client, error) {
	db, err := s.writableDB()
	if err != nil {
		return nil, err
	}
	err = s.withQueries(ctx, func(q *queries.Queries) error {
		if err := q.ResumeJobs(ctx); err != nil {
			return err
		}
		return q.DeleteLeader(ctx)
	})
	if err != nil {
		return nil, wrapError("recovering jobs of a previous process", err)
	}
	return outbox.NewClient(riversqlite.New(db.DB), handlers, log)
}

// QueueStats implements storage.JobQueue.
func (s *Store) QueueStats(ctx context.Context) ([]outbox.QueueStats, error) {
	q, err := s.readQueries()
	if err != nil {
		return nil, err
	}
	rows, err := q.QueueStats(ctx)
	if err != nil {
		return nil, wrapError("reading outbox statistics", err)
	}
	stats := make([]outbox.QueueStats, len(rows))
	for i, row := range rows {
		stats[i] = outbox.QueueStats{Queue: row.Queue, Jobs: row.Jobs, Running: row.Running, NextDueAt: time.UnixMicro(row.Next).UTC()}
	}
	return stats, nil
}

// Enqueued implements storage.JobQueue. No other process writes to the file.
func (s *Store) Enqueued() <-chan struct{} { return s.enqueued }
