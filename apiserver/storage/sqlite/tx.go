// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// Transact implements storage.Transactor.
func (s *Store) Transact(ctx context.Context, work func(storage.Tx) error) error {
	var refused error
	enqueued := false
	err := s.withTx(ctx, func(db *openDatabase, begun *sql.Tx) error {
		tx := sqlstore.NewTx(txDriver{conn{begun}, db.outbox.WithTx(begun)})
		refused = work(tx)
		enqueued = tx.Enqueued()
		return refused
	})
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return wrapError("running transaction", err)
	case enqueued:
		s.signalEnqueued()
	}
	return nil
}

// signalEnqueued wakes the reader of Enqueued.
func (s *Store) signalEnqueued() {
	select {
	case s.enqueued <- struct{}{}:
	default: // already signaled
	}
}

// txDriver implements sqlstore.TxDriver.
type txDriver struct {
	conn
	outbox.Jobs
}

// InsertAttempts implements sqlstore.TxDriver.
func (t txDriver) InsertAttempts(ctx context.Context, attempts []sqlstore.AttemptRow) error {
	for _, attempt := range attempts {
		err := queries.New(t.db).InsertWebhookAttempt(ctx, queries.InsertWebhookAttemptParams{
			ID: attempt.ID, WebhookID: attempt.WebhookID, At: attempt.At.UnixMicro(), Document: attempt.Document,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
