// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// gate implements sqlstore.Driver on the connection of a store, once it is open.
type gate struct{ store *Store }

// WrapError implements sqlstore.Driver.
func (gate) WrapError(_ context.Context, operation string, err error) error {
	return wrapError(operation, err)
}

// Exec implements sqlstore.Driver.
func (g gate) Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error) {
	db, err := g.store.writableDB()
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	return conn{db}.Exec(ctx, query, args...)
}

// Query implements sqlstore.Driver.
func (g gate) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	db := g.store.db.Load()
	if db == nil {
		return nil, record.ErrNotOpen
	}
	return conn{db.readers}.Query(ctx, query, args...)
}

// QueryRow implements sqlstore.Driver.
func (g gate) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	db := g.store.db.Load()
	if db == nil {
		return notOpenRow{}
	}
	return conn{db.readers}.QueryRow(ctx, query, args...)
}

// notOpenRow is the row returned before the database is open.
type notOpenRow struct{}

// Scan implements pgx.Row.
func (notOpenRow) Scan(...any) error { return record.ErrNotOpen }
