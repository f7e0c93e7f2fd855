// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
)

// conn runs the shared queries, which are generated for PostgreSQL, on SQLite. Their text
// is valid in both except for row locks, and SQLite stores times as microseconds.
type conn struct{ db queries.DBTX }

// WrapError implements sqlstore.Driver.
func (conn) WrapError(_ context.Context, operation string, err error) error {
	return wrapError(operation, err)
}

// Exec implements sqlstore.Driver.
func (c conn) Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error) {
	result, err := c.db.ExecContext(ctx, query, encodeTimes(args)...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	changed, err := result.RowsAffected()
	return pgconn.NewCommandTag(fmt.Sprintf("UPDATE %d", changed)), err
}

// Query implements sqlstore.Driver.
func (c conn) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	result, err := c.db.QueryContext(ctx, withoutRowLocks(query), encodeTimes(args)...) //nolint:rowserrcheck // left to the caller
	return rows{result: result}, err
}

// QueryRow implements sqlstore.Driver.
func (c conn) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	return row{c.db.QueryRowContext(ctx, withoutRowLocks(query), encodeTimes(args)...)}
}

// withoutRowLocks removes the row lock of a query. A transaction that writes holds the
// lock of the whole file.
func withoutRowLocks(query string) string { return strings.Replace(query, " FOR UPDATE", "", 1) }

// encodeTimes replaces times with microseconds since 1970.
func encodeTimes(args []any) []any {
	encoded := make([]any, len(args))
	for i, arg := range args {
		if at, ok := arg.(time.Time); ok {
			arg = at.UnixMicro()
		}
		encoded[i] = arg
	}
	return encoded
}

// rows implements the methods of pgx.Rows that the generated code calls.
type rows struct {
	pgx.Rows // nil
	result   *sql.Rows
}

// Next implements pgx.Rows.
func (r rows) Next() bool { return r.result.Next() }

// Scan implements pgx.Rows.
func (r rows) Scan(targets ...any) error { return r.result.Scan(decodeTimes(targets)...) }

// Err implements pgx.Rows.
func (r rows) Err() error { return r.result.Err() }

// Close implements pgx.Rows. Err returns errors of reading.
func (r rows) Close() { _ = r.result.Close() }

// row implements pgx.Row.
type row struct{ result *sql.Row }

// Scan implements pgx.Row.
func (r row) Scan(targets ...any) error { return r.result.Scan(decodeTimes(targets)...) }

// decodeTimes replaces pointers to times with targets that read microseconds since 1970.
func decodeTimes(targets []any) []any {
	decoded := make([]any, len(targets))
	for i, target := range targets {
		if at, ok := target.(*time.Time); ok {
			target = (*microseconds)(at)
		}
		decoded[i] = target
	}
	return decoded
}

// microseconds is a time that is stored as microseconds since 1970.
type microseconds time.Time

// Scan implements sql.Scanner.
func (m *microseconds) Scan(value any) error {
	count, ok := value.(int64)
	if !ok {
		return fmt.Errorf("unsupported time value of type %T", value)
	}
	*m = microseconds(time.UnixMicro(count).UTC())
	return nil
}
