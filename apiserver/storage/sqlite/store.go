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

	driver "modernc.org/sqlite"

	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// connectionParams are the connection parameters: the lock timeout, durable commits,
// transactions that take the write lock when they begin, strict handling of errors and
// quotes, and overwriting of deleted data.
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

// Store is a storage.Store in one SQLite file.
type Store struct {
	path     string
	db       atomic.Pointer[openDatabase] // nil until opened
	enqueued chan struct{}                // signals new outbox jobs
}

// openDatabase is an open database file.
type openDatabase struct {
	fileInfo os.FileInfo
	outbox   *outbox.Inserter[*sql.Tx]
	*sql.DB
}

var _ storage.Store = (*Store)(nil)

// New returns a store for the file at path without opening it.
func New(path string) *Store { return &Store{path: path, enqueued: make(chan struct{}, 1)} }

// Open implements storage.Store. It creates a missing file, readable by the current user
// only; the directory must exist. SQLite's -wal and -shm files and the empty .lock file
// next to the database belong to it.
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
		return fmt.Errorf("waiting for the lock of database %s: %w", path, err)
	}
	opened, err := openLocked(ctx, path, owner)
	if err := errors.Join(err, unlock()); err != nil {
		return fmt.Errorf("opening database %s: %w", path, err)
	}
	s.db.Store(opened)
	return nil
}

func openLocked(ctx context.Context, path string, owner storage.Owner) (*openDatabase, error) {
	db, err := openHandle(path, connectionParams)
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
	return &openDatabase{fileInfo: file, outbox: inserter, DB: db}, nil
}

// prepare checks the owner of the database, migrates it and marks it. The caller must
// hold the lock from lockForOpen.
func prepare(ctx context.Context, db *sql.DB, owner storage.Owner) error {
	marked, err := readOwner(ctx, db)
	if err != nil {
		return fmt.Errorf("reading its owner: %w", err)
	}
	if err := owner.CheckMarker(marked); err != nil {
		return err
	}
	if err := migrate(ctx, db); err != nil {
		return fmt.Errorf("migrating its schema: %w", err)
	}
	if owner.UID == "" || owner.UID == marked {
		return nil
	}
	if err := queries.New(db).PutMark(ctx, owner.UID); err != nil {
		return fmt.Errorf("recording its owner: %w", err)
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
	marked, err := queries.New(db).Mark(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return marked, err
}

// readQueries returns the queries for reading.
func (s *Store) readQueries() (*queries.Queries, error) {
	db := s.db.Load()
	if db == nil {
		return nil, storage.ErrNotOpen
	}
	return queries.New(db), nil
}

// writableDB returns the database for writing, after checking that path still names the
// open file. Data written to a deleted file would be lost when the process exits.
func (s *Store) writableDB() (*openDatabase, error) {
	db := s.db.Load()
	if db == nil {
		return nil, storage.ErrNotOpen
	}
	file, err := os.Stat(s.path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("checking database file: %w", err)
	case !os.SameFile(file, db.fileInfo):
		return nil, fmt.Errorf("the database file %s was replaced after it was opened; restore the original file, or restart to use the new one", s.path)
	}
	return db, nil
}

// withQueries runs work in a transaction.
func (s *Store) withQueries(ctx context.Context, work func(*queries.Queries) error) error {
	return s.withTx(ctx, func(_ *openDatabase, begun *sql.Tx) error { return work(queries.New(begun)) })
}

// withTx runs work in a transaction with access to the transaction itself.
func (s *Store) withTx(ctx context.Context, work func(*openDatabase, *sql.Tx) error) error {
	db, err := s.writableDB()
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after a commit
	if err := work(db, tx); err != nil {
		return err
	}
	return tx.Commit()
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

// openHandle opens the single connection to the file at path.
func openHandle(path string, settings url.Values) (*sql.DB, error) {
	name := url.URL{Scheme: "file", Path: path, RawQuery: settings.Encode()}
	connector, err := driver.NewConnector(name.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

// AddUsage implements storage.UsageStore.
func (s *Store) AddUsage(ctx context.Context, batch storage.UsageBatch) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	if len(batch.Counts) == 0 {
		return nil
	}
	err := s.withQueries(ctx, func(add *queries.Queries) error { return addUsage(ctx, add, batch) })
	if err != nil {
		return fmt.Errorf("adding %d usage counts: %w", len(batch.Counts), err)
	}
	return nil
}

func addUsage(ctx context.Context, add *queries.Queries, batch storage.UsageBatch) error {
	if batch.Sequence == 1 { // infrequent enough for cleanup
		if err := add.ForgetRecorders(ctx); err != nil {
			return err
		}
	}
	taken, err := add.TakeBatch(ctx, queries.TakeBatchParams{ID: batch.Recorder, Batch: batch.Sequence})
	if err != nil || taken == 0 {
		return err
	}
	for _, count := range batch.Counts {
		if err := add.AddUsage(ctx, queries.AddUsageParams(count)); err != nil {
			return err
		}
	}
	return nil
}

// ListUsage implements storage.UsageStore.
func (s *Store) ListUsage(ctx context.Context, from, to civil.Date) ([]storage.UsageCount, error) {
	read, err := s.readQueries()
	if err != nil {
		return nil, err
	}
	rows, err := read.Usage(ctx, queries.UsageParams{FirstDate: from, LastDate: to})
	if err != nil {
		return nil, fmt.Errorf("reading usage from %s to %s: %w", from, to, err)
	}
	counts := make([]storage.UsageCount, len(rows))
	for i, row := range rows {
		counts[i] = storage.UsageCount(row)
	}
	return counts, nil
}

// ListUsageTotals implements storage.UsageStore.
func (s *Store) ListUsageTotals(ctx context.Context, from, to civil.Date, endpoints []string) ([]storage.UsageTotal, error) {
	read, err := s.readQueries()
	if err != nil {
		return nil, err
	}
	rows, err := read.UsageTotals(ctx, queries.UsageTotalsParams{FirstDate: from, LastDate: to, Endpoints: endpoints})
	if err != nil {
		return nil, fmt.Errorf("reading usage totals from %s to %s: %w", from, to, err)
	}
	totals := make([]storage.UsageTotal, len(rows))
	for i, row := range rows {
		totals[i] = storage.UsageTotal(row)
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
		return fmt.Errorf("checking whether the database is writable: %w", err)
	}
	if err := tx.Rollback(); err != nil {
		return fmt.Errorf("rolling back empty transaction: %w", err)
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
