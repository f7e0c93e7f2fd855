// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// tx implements storage.Tx. A transaction holds the write lock, so every read is a
// locking read.
type tx struct {
	*queries.Queries
	sqlTx     *sql.Tx
	outbox    *outbox.Inserter[*sql.Tx]
	onEnqueue func() // called after commit if the outbox changed
}

var _ storage.Tx = tx{}

// Transact implements storage.Transactor.
func (s *Store) Transact(ctx context.Context, work func(storage.Tx) error) error {
	var refused error
	tells := false
	err := s.withTx(ctx, func(db *openDatabase, begun *sql.Tx) error {
		refused = work(tx{queries.New(begun), begun, db.outbox, func() { tells = true }})
		return refused
	})
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return wrapError("running transaction", err)
	case tells:
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

// wrapNotFound converts sql.ErrNoRows to storage.ErrNotFound.
func wrapNotFound(doing string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return storage.ErrNotFound
	}
	return wrapError(doing, err)
}
