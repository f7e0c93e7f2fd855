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

// View implements storage.Transactor. It does not wait for other transactions.
func (s *Store) View(ctx context.Context, work func(storage.Reader) error) error {
	db, err := s.writableDB() // detects a deleted file, whose data must not be read
	if err != nil {
		return wrapError("beginning transaction", err)
	}
	return transact(ctx, db.readers, db.outbox, func(tx *sqlstore.Tx) error { return work(tx) })
}

// Transact implements storage.Transactor.
func (s *Store) Transact(ctx context.Context, work func(storage.Tx) error) error {
	db, err := s.writableDB()
	if err != nil {
		return wrapError("beginning transaction", err)
	}
	enqueued := false
	err = transact(ctx, db.DB, db.outbox, func(tx *sqlstore.Tx) error {
		err := work(tx)
		enqueued = tx.Enqueued()
		return err
	})
	if err == nil && enqueued {
		s.signalEnqueued()
	}
	return err
}

// transact runs work in a transaction and returns its errors unchanged.
func transact(ctx context.Context, db *sql.DB, jobs *outbox.Inserter[*sql.Tx], work func(*sqlstore.Tx) error) error {
	var failed error
	err := inTx(ctx, db, func(tx *sql.Tx) error {
		failed = work(sqlstore.NewTx(txDriver{conn{tx}, jobs.WithTx(tx)}))
		return failed
	})
	if failed != nil || err == nil {
		return failed
	}
	return wrapError("running transaction", err)
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
