// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	driver "modernc.org/sqlite"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// connectionParams are the parameters of the connection that writes: the lock timeout,
// durable commits, transactions that take the write lock when they begin, strict handling
// of errors and quotes, and overwriting of deleted data.
var connectionParams = url.Values{
	"_busy_timeout": {"5000"},
	"_journal_mode": {"WAL"},
	"_synchronous":  {"FULL"},
	"_foreign_keys": {"on"},
	"_txlock":       {"immediate"},
	"_dqs":          {"false"},
	"_error_rc":     {"true"},
	"_pragma":       {"secure_delete(on)"},
}

// readerParams are the connection parameters of read-only connections.
var readerParams = url.Values{
	"_busy_timeout": {"5000"},
	"_dqs":          {"false"},
	"_error_rc":     {"true"},
	"_pragma":       {"query_only(on)"},
}

// maxReaders limits the read-only connections. They close after readerIdleTime.
const (
	maxReaders     = 4
	readerIdleTime = time.Minute
)

// Store is a storage.Store in one SQLite file.
type Store struct {
	sqlstore.DB
	path     string
	db       atomic.Pointer[openDatabase] // nil until opened
	enqueued chan struct{}                // signals new outbox jobs
}

// openDatabase is an open database file.
type openDatabase struct {
	fileInfo os.FileInfo
	outbox   *outbox.Inserter[*sql.Tx]
	readers  *sql.DB // read-only connections
	*sql.DB          // the connection that writes
}

// Close closes all connections. It closes the writable connection last, because the last
// connection removes the write-ahead log.
func (d *openDatabase) Close() error { return errors.Join(d.readers.Close(), d.DB.Close()) }

var _ storage.Store = (*Store)(nil)

// New returns a store for the file at path without opening it.
func New(path string) *Store {
	store := &Store{path: path, enqueued: make(chan struct{}, 1)}
	store.DB = sqlstore.NewDB(gate{store})
	return store
}

// Open implements storage.Store. It creates a missing file, readable by the current user
// only; the directory must exist. The -wal, -shm and .lock files next to the database file
// are part of the database.
func (s *Store) Open(ctx context.Context, owner storage.Owner) error {
	path, err := filepath.Abs(s.path)
	if err != nil {
		return fmt.Errorf("locating database: %w", err)
	}
	s.path = path
	if err := ensureFile(path); err != nil {
		return fmt.Errorf("opening database: %w", err)
	}
	unlock, err := lockForOpen(ctx, path)
	if err != nil {
		return fmt.Errorf("waiting for the lock on database %s: %w", path, err)
	}
	opened, err := openLocked(ctx, path, owner)
	if err := errors.Join(err, unlock()); err != nil {
		return fmt.Errorf("opening database %s: %w", path, err)
	}
	s.db.Store(opened)
	return nil
}

func openLocked(ctx context.Context, path string, owner storage.Owner) (*openDatabase, error) {
	db, err := openHandle(path, connectionParams, 1)
	if err != nil {
		return nil, err
	}
	if err := prepare(ctx, db, owner); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	file, err := os.Stat(path)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	inserter, err := newInserter()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	readers, err := openHandle(path, readerParams, maxReaders)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	readers.SetConnMaxIdleTime(readerIdleTime)
	return &openDatabase{fileInfo: file, outbox: inserter, readers: readers, DB: db}, nil
}

// prepare checks the owner of the database, migrates it and marks it. The caller must
// hold the lock from lockForOpen.
func prepare(ctx context.Context, db *sql.DB, owner storage.Owner) error {
	ownerUID, err := readOwner(ctx, db)
	if err != nil {
		return fmt.Errorf("reading owner: %w", err)
	}
	if err := owner.CheckMarker(ownerUID); err != nil {
		return err
	}
	if err := migrate(ctx, db); err != nil {
		return fmt.Errorf("migrating schema: %w", err)
	}
	if owner.UID == "" || owner.UID == ownerUID {
		return nil
	}
	if err := sqlstore.PutOwner(ctx, conn{db}, owner.UID); err != nil {
		return fmt.Errorf("recording owner: %w", err)
	}
	return nil
}

// readOwner returns the UID of the Instance that owns the database, or "" if unowned.
func readOwner(ctx context.Context, db *sql.DB) (string, error) {
	var tables int
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'owner'").Scan(&tables)
	if err != nil || tables == 0 {
		return "", err
	}
	return sqlstore.GetOwner(ctx, conn{db})
}

// readQueries returns the queries for reading.
func (s *Store) readQueries() (*queries.Queries, error) {
	db := s.db.Load()
	if db == nil {
		return nil, record.ErrNotOpen
	}
	return queries.New(db.readers), nil
}

// writableDB returns the database for writing, after checking that the file at path is
// still the open file. Data written to a deleted file would be lost when the process exits.
func (s *Store) writableDB() (*openDatabase, error) {
	db := s.db.Load()
	if db == nil {
		return nil, record.ErrNotOpen
	}
	file, err := os.Stat(s.path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("checking database file: %w", err)
	case !os.SameFile(file, db.fileInfo):
		return nil, fmt.Errorf("database file %s was replaced while open; restore the original file, or restart the server to use the new file", s.path)
	}
	return db, nil
}

// withQueries runs work in a transaction.
func (s *Store) withQueries(ctx context.Context, work func(*queries.Queries) error) error {
	db, err := s.writableDB()
	if err != nil {
		return err
	}
	return inTx(ctx, db.DB, func(tx *sql.Tx) error { return work(queries.New(tx)) })
}

// inTx runs work in a transaction.
func inTx(ctx context.Context, db *sql.DB, work func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after a commit
	if err := work(tx); err != nil {
		return err
	}
	err = tx.Commit()
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err() // database/sql rolled the transaction back because ctx is done
	}
	return err
}

// ensureFile creates an empty file if none exists, so that SQLite does not create a
// world-readable one and a wrong path is reported clearly.
func ensureFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// openHandle returns a handle that opens at most maxOpen connections to the file at path.
func openHandle(path string, settings url.Values, maxOpen int) (*sql.DB, error) {
	name := url.URL{Scheme: "file", Path: path, RawQuery: settings.Encode()}
	connector, err := driver.NewConnector(name.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(maxOpen)
	return db, nil
}

// AddUsage implements storage.UsageStore.
func (s *Store) AddUsage(ctx context.Context, batch usage.Batch) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	if len(batch.Counts) == 0 {
		return nil
	}
	err := s.withQueries(ctx, func(q *queries.Queries) error { return addUsage(ctx, q, batch) })
	if err != nil {
		return fmt.Errorf("adding %d usage counts: %w", len(batch.Counts), err)
	}
	return nil
}

func addUsage(ctx context.Context, q *queries.Queries, batch usage.Batch) error {
	if batch.Sequence == 1 { // rare enough for cleanup
		if err := q.DeleteStaleRecorders(ctx); err != nil {
			return err
		}
	}
	claimed, err := q.ClaimBatch(ctx, queries.ClaimBatchParams{ID: batch.Recorder, Batch: batch.Sequence})
	if err != nil || claimed == 0 { // the batch was added before
		return err
	}
	for _, count := range batch.Counts {
		if err := q.AddUsage(ctx, queries.AddUsageParams(count)); err != nil {
			return err
		}
	}
	return nil
}

// ListUsageTotals implements storage.UsageStore.
func (s *Store) ListUsageTotals(ctx context.Context, from, to civil.Date, endpoints []string) ([]usage.Total, error) {
	q, err := s.readQueries()
	if err != nil {
		return nil, err
	}
	rows, err := q.UsageTotals(ctx, queries.UsageTotalsParams{FirstDate: from, LastDate: to, Endpoints: endpoints})
	if err != nil {
		return nil, fmt.Errorf("reading usage totals from %s to %s: %w", from, to, err)
	}
	totals := make([]usage.Total, len(rows))
	for i, row := range rows {
		totals[i] = usage.Total(row)
	}
	return totals, nil
}

// Ping implements storage.Store. It takes and releases the write lock.
func (s *Store) Ping(ctx context.Context) error {
	db, err := s.writableDB()
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning transaction: %w", err)
	}
	if err := tx.Rollback(); err != nil {
		return fmt.Errorf("rolling back transaction: %w", err)
	}
	return nil
}

// Close implements storage.Store.
func (s *Store) Close() error {
	db := s.db.Load()
	if db == nil {
		return nil
	}
	if err := db.Close(); err != nil {
		return fmt.Errorf("closing database: %w", err)
	}
	return nil
}
