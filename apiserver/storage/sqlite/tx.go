// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
)

// tx is a transaction. Its methods are those of storage.Tx. Nobody else writes
// while there is one, so that every reading locks.
type tx struct {
	*queries.Queries
	begun    *sql.Tx
	outbox   *outbox.Inserter[*sql.Tx]
	enqueued func() // tells, once it is committed, that something is in the outbox
}

var _ storage.Tx = tx{}

// Transact implements storage.Transactor.
func (s *Store) Transact(ctx context.Context, work func(storage.Tx) error) error {
	var refused error
	tells := false
	err := s.begin(ctx, func(db *database, begun *sql.Tx) error {
		refused = work(tx{queries.New(begun), begun, db.outbox, func() { tells = true }})
		return refused
	})
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return failure("begin or commit a transaction", err)
	case tells:
		s.tell()
	}
	return nil
}

// tell wakes who looks after the outbox.
func (s *Store) tell() {
	select {
	case s.told <- struct{}{}:
	default: // told already
	}
}

// found says ErrNotFound where there is no row.
func found(doing string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return storage.ErrNotFound
	}
	return failure(doing, err)
}
