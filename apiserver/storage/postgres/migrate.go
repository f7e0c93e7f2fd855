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

// migrate applies the migrations that the database has not seen, under an
// advisory lock of the session, so that one replica does it while the others
// wait. Each migration is a transaction of its own.
func migrate(ctx context.Context, pool *pgxpool.Pool) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	// Asked for every second, for as long as five minutes. It is not waited
	// for inside PostgreSQL, where a waiting statement would stand in the way
	// of a migration that builds an index concurrently.
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
		return failure(ctx, migrating(err), err)
	}
	return nil
}

// migrating says what was being done when err happened.
func migrating(err error) string {
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		return "apply the migration " + path.Base(partial.Failed.Source.Path)
	}
	return "bring the tables in PostgreSQL up to date"
}
