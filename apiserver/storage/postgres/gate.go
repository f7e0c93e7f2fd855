// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// A gate lets nothing through to the database before its tables are known to be
// up to date.
type gate struct {
	pool   *pgxpool.Pool
	opened atomic.Bool
}

// Exec is pgxpool's.
func (g *gate) Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error) {
	if !g.opened.Load() {
		return pgconn.CommandTag{}, storage.ErrNotOpen
	}
	return g.pool.Exec(ctx, sql, arguments...)
}

// Query is pgxpool's.
func (g *gate) Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error) {
	if !g.opened.Load() {
		return nil, storage.ErrNotOpen
	}
	return g.pool.Query(ctx, sql, arguments...)
}

// QueryRow is pgxpool's.
func (g *gate) QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row {
	if !g.opened.Load() {
		return noRow{}
	}
	return g.pool.QueryRow(ctx, sql, arguments...)
}

// Begin is pgxpool's.
func (g *gate) Begin(ctx context.Context) (pgx.Tx, error) {
	if !g.opened.Load() {
		return nil, storage.ErrNotOpen
	}
	return g.pool.Begin(ctx)
}

// noRow is the row of a database that is not open.
type noRow struct{}

// Scan implements pgx.Row.
func (noRow) Scan(...any) error { return storage.ErrNotOpen }
