// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
)

// tx is a transaction. Its methods are those of storage.Tx. Nobody else writes
// while there is one, so that every reading locks.
type tx struct{ *queries.Queries }

var _ storage.Tx = tx{}

// Transact implements storage.Transactor.
func (s *Store) Transact(ctx context.Context, work func(storage.Tx) error) error {
	var refused error
	err := s.transact(ctx, func(q *queries.Queries) error {
		refused = work(tx{q})
		return refused
	})
	if err != nil && refused == nil {
		return failure("begin or commit a transaction", err)
	}
	return err
}

// found says ErrNotFound where there is no row.
func found(doing string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return storage.ErrNotFound
	}
	return failure(doing, err)
}
