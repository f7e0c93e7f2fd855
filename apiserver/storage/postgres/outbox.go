// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// newInserter needs no pool: jobs are inserted in transactions that already exist.
func newInserter() (*outbox.Inserter[pgx.Tx], error) { return outbox.NewInserter(riverpgxv5.New(nil)) }

// NewOutboxClient implements storage.JobQueue.
func (s *Store) NewOutboxClient(_ context.Context, handlers outbox.Handlers, log *slog.Logger) (outbox.Client, error) {
	if !s.gate.ready.Load() {
		return nil, record.ErrNotOpen
	}
	return outbox.NewClient(riverpgxv5.New(s.pool), handlers, log)
}

// QueueStats implements storage.JobQueue.
func (s *Store) QueueStats(ctx context.Context) ([]outbox.QueueStats, error) {
	rows, err := s.queries.QueueStats(ctx)
	if err != nil {
		return nil, wrapError(ctx, "reading outbox statistics", err)
	}
	stats := make([]outbox.QueueStats, len(rows))
	for i, row := range rows {
		stats[i] = outbox.QueueStats{Queue: row.Queue, Jobs: row.Jobs, Running: row.Running, NextDueAt: row.Next.UTC()}
	}
	return stats, nil
}

// Enqueued implements storage.JobQueue. It returns nil because other replicas insert
// jobs too.
func (*Store) Enqueued() <-chan struct{} { return nil }
