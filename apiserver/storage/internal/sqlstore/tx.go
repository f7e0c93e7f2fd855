// SPDX-License-Identifier: Apache-2.0

// Package sqlstore implements the transactions of package storage with the queries that
// PostgreSQL and SQLite share: queries.sql and the code that sqlc generates from it.
//
// Connections, migrations, error messages and statements that only one database
// understands belong to packages postgres and sqlite.
package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// Driver runs the queries on a database.
type Driver interface {
	queries.DBTX
	// WrapError adds the failed operation to an error. The result wraps the errors of
	// package storage.
	WrapError(ctx context.Context, operation string, err error) error
}

// TxDriver runs the queries, and the statements that differ between the databases, in a
// transaction.
type TxDriver interface {
	Driver
	outbox.Jobs
	// InsertAttempts inserts rows into the table webhook_attempts.
	InsertAttempts(ctx context.Context, rows []AttemptRow) error
}

// Tx implements storage.Tx.
type Tx struct {
	runner
	driver   TxDriver
	enqueued bool
}

var _ storage.Tx = (*Tx)(nil)

// NewTx returns a transaction that runs its queries on a driver.
func NewTx(driver TxDriver) *Tx { return &Tx{runner: newRunner(driver), driver: driver} }

// Enqueued reports whether the transaction added jobs to the outbox.
func (t *Tx) Enqueued() bool { return t.enqueued }

// runner runs the queries and wraps their errors.
type runner struct {
	*queries.Queries
	wrapError func(ctx context.Context, operation string, err error) error
}

func newRunner(driver Driver) runner { return runner{queries.New(driver), driver.WrapError} }

// wrap adds the failed operation to an error. It returns nil if err is nil.
func (r runner) wrap(ctx context.Context, operation string, err error) error {
	if err == nil {
		return nil
	}
	return r.wrapError(ctx, operation, err)
}

// wrapFound wraps the error of reading one row. It returns record.ErrNotFound if the row
// does not exist.
func (r runner) wrapFound(ctx context.Context, operation string, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return record.ErrNotFound
	}
	return r.wrap(ctx, operation, err)
}

// wrapChanged wraps the error of a statement that must change a row. If the statement
// changed no row, wrapChanged returns errUnchanged.
func (r runner) wrapChanged(ctx context.Context, operation string, changed int64, err, errUnchanged error) error {
	if err == nil && changed == 0 {
		return errUnchanged
	}
	return r.wrap(ctx, operation, err)
}

// convert converts all rows of a result.
func convert[Row, T any](rows []Row, to func(Row) T) []T {
	converted := make([]T, len(rows))
	for i, row := range rows {
		converted[i] = to(row)
	}
	return converted
}
