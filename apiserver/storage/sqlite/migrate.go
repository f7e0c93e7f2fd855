// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"io/fs"
	"net/url"
	"time"

	"github.com/pressly/goose/v3"
	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies pending migrations. Each one is applied completely or not at all.
func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// lockForOpen waits for the exclusive lock for opening the database at path, and holds it
// until unlock is called or the process exits. Without the lock, two processes migrating
// concurrently would both see the old schema.
//
// It uses SQLite's own lock, on an empty database next to the real one, which works on
// every platform and is released when the process exits. lockForOpen polls because
// waiting inside SQLite ignores ctx.
func lockForOpen(ctx context.Context, path string) (unlock func() error, err error) {
	lockFile, err := openHandle(path+".lock", url.Values{"_txlock": {"exclusive"}}, 1)
	if err != nil {
		return nil, err
	}
	for {
		lock, err := lockFile.BeginTx(context.WithoutCancel(ctx), nil)
		if err == nil {
			return func() error { return errors.Join(lock.Rollback(), lockFile.Close()) }, nil
		}
		if !isBusy(err) {
			return nil, errors.Join(err, lockFile.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), lockFile.Close())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// isBusy reports whether another connection holds the lock.
func isBusy(err error) bool {
	var driverErr *driver.Error
	return errors.As(err, &driverErr) && driverErr.Code()&0xff == codes.SQLITE_BUSY
}
