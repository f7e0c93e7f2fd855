// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// tx implements storage.Tx.
type tx struct {
	*queries.Queries
	pgxTx  pgx.Tx
	outbox *outbox.Inserter[pgx.Tx]
}

var _ storage.Tx = tx{}

// maxTransactionAttempts limits the attempts of a transaction that conflicts with
// others.
const maxTransactionAttempts = 4

// Transact implements storage.Transactor.
func (s *Store) Transact(ctx context.Context, work func(storage.Tx) error) (err error) {
	for range maxTransactionAttempts {
		if err = s.transact(ctx, work); !errors.Is(err, storage.ErrConflict) {
			return err
		}
	}
	return err
}

func (s *Store) transact(ctx context.Context, work func(storage.Tx) error) error {
	begun, err := s.gate.Begin(ctx)
	if err != nil {
		return wrapError(ctx, "beginning transaction", err)
	}
	defer begun.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // does nothing after a commit
	if err := work(tx{s.queries.WithTx(begun), begun, s.outbox}); err != nil {
		return err
	}
	if err := begun.Commit(ctx); err != nil {
		return wrapError(ctx, "committing transaction", err)
	}
	return nil
}

// wrapNotFound converts pgx.ErrNoRows to storage.ErrNotFound.
func wrapNotFound(ctx context.Context, doing string, err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return storage.ErrNotFound
	}
	return wrapError(ctx, doing, err)
}
