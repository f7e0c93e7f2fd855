// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
)

// tx is a transaction. Its methods are those of storage.Tx.
type tx struct {
	*queries.Queries
	begun  pgx.Tx
	outbox *outbox.Inserter[pgx.Tx]
}

var _ storage.Tx = tx{}

// contendedTries is how often a transaction is tried that is in the way of others.
const contendedTries = 4

// Transact implements storage.Transactor.
func (s *Store) Transact(ctx context.Context, work func(storage.Tx) error) (err error) {
	for range contendedTries {
		if err = s.transact(ctx, work); !errors.Is(err, storage.ErrContended) {
			return err
		}
	}
	return err
}

func (s *Store) transact(ctx context.Context, work func(storage.Tx) error) error {
	begun, err := s.gate.Begin(ctx)
	if err != nil {
		return failure(ctx, "begin a transaction", err)
	}
	defer begun.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // does nothing after a commit
	if err := work(tx{s.queries.WithTx(begun), begun, s.outbox}); err != nil {
		return err
	}
	if err := begun.Commit(ctx); err != nil {
		return failure(ctx, "commit a transaction", err)
	}
	return nil
}

// found says ErrNotFound where there is no row.
func found(ctx context.Context, doing string, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return storage.ErrNotFound
	}
	return failure(ctx, doing, err)
}
