// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"path"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies pending migrations under a session-level advisory lock, so that one
// replica migrates while the others wait. Each migration runs in its own transaction.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	// Poll for the lock every second, for up to five minutes. Waiting inside PostgreSQL
	// would block migrations that build an index concurrently.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close() //nolint:errcheck // the pool below it stays open
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return wrapError(ctx, migrationStep(err), err)
	}
	return nil
}

// migrationStep describes the operation that failed with err.
func migrationStep(err error) string {
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		return "applying migration " + path.Base(partial.Failed.Source.Path)
	}
	return "migrating the PostgreSQL schema"
}
