// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// gate implements sqlstore.Driver. It blocks all access to the database until its
// migrations are complete.
type gate struct {
	pool  *pgxpool.Pool
	ready atomic.Bool
}

// Exec wraps pgxpool.Pool.Exec.
func (g *gate) Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error) {
	if !g.ready.Load() {
		return pgconn.CommandTag{}, record.ErrNotOpen
	}
	return g.pool.Exec(ctx, sql, arguments...)
}

// Query wraps pgxpool.Pool.Query.
func (g *gate) Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error) {
	if !g.ready.Load() {
		return nil, record.ErrNotOpen
	}
	return g.pool.Query(ctx, sql, arguments...)
}

// QueryRow wraps pgxpool.Pool.QueryRow.
func (g *gate) QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row {
	if !g.ready.Load() {
		return notOpenRow{}
	}
	return g.pool.QueryRow(ctx, sql, arguments...)
}

// BeginTx wraps pgxpool.Pool.BeginTx.
func (g *gate) BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	if !g.ready.Load() {
		return nil, record.ErrNotOpen
	}
	return g.pool.BeginTx(ctx, options)
}

// WrapError implements sqlstore.Driver.
func (*gate) WrapError(ctx context.Context, operation string, err error) error {
	return wrapError(ctx, operation, err)
}

// notOpenRow is the row returned before the database is open.
type notOpenRow struct{}

// Scan implements pgx.Row.
func (notOpenRow) Scan(...any) error { return record.ErrNotOpen }
