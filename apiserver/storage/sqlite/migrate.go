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

// migrate applies the migrations that the database has not seen. One that was
// begun is finished or leaves no trace.
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

// lockOpening waits until it is alone in opening the database at path, and
// keeps it so until unlock is called or the process ends. Two processes that
// migrate at once would both see an old database.
//
// The lock is SQLite's own, on an empty database beside the real one: that
// works on every system and goes away with the process that holds it. It is
// asked for again and again because a wait inside SQLite does not end with ctx.
func lockOpening(ctx context.Context, path string) (unlock func() error, err error) {
	guard, err := handle(path+".lock", url.Values{"_txlock": {"exclusive"}})
	if err != nil {
		return nil, err
	}
	for {
		lock, err := guard.BeginTx(context.WithoutCancel(ctx), nil)
		if err == nil {
			return func() error { return errors.Join(lock.Rollback(), guard.Close()) }, nil
		}
		if !busy(err) {
			return nil, errors.Join(err, guard.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), guard.Close())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// busy reports whether err says that another connection has the lock.
func busy(err error) bool {
	var failure *driver.Error
	return errors.As(err, &failure) && failure.Code()&0xff == codes.SQLITE_BUSY
}
