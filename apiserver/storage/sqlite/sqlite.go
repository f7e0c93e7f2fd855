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

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
)

// settings are those of the connection: how long a statement waits for a lock
// that another process has, that a commit is on the disk before it is
// reported, that a transaction takes its lock when it begins, that errors and
// quotes mean what they say, and that what is erased is overwritten.
var settings = url.Values{
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
	database atomic.Pointer[database] // nil before it is open
	told     chan struct{}            // of what was put into the outbox
}

// A database is a file that is open.
type database struct {
	file   os.FileInfo
	outbox *outbox.Inserter[*sql.Tx]
	*sql.DB
}

var _ storage.Store = (*Store)(nil)

// New returns the store in the file at path, which is not opened yet.
func New(path string) *Store { return &Store{path: path, told: make(chan struct{}, 1)} }

// Open implements storage.Store. The file is made when there is none, with access
// for this user only; its directory has to exist. SQLite's files beside the
// database, -wal and -shm, and an empty one, .lock, belong to it.
func (s *Store) Open(ctx context.Context, owner storage.Owner) error {
	path, err := filepath.Abs(s.path)
	if err != nil {
		return fmt.Errorf("find the database: %w", err)
	}
	s.path = path
	if err := create(path); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	unlock, err := lockOpening(ctx, path)
	if err != nil {
		return fmt.Errorf("wait for others that open the database %s: %w", path, err)
	}
	opened, err := openLocked(ctx, path, owner)
	if err := errors.Join(err, unlock()); err != nil {
		return fmt.Errorf("open the database %s: %w", path, err)
	}
	s.database.Store(opened)
	return nil
}

func openLocked(ctx context.Context, path string, owner storage.Owner) (*database, error) {
	db, err := handle(path, settings)
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
	return &database{file: file, outbox: inserter, DB: db}, nil
}

// prepare makes a database that is not another's the owner's own, with its tables up
// to date. Nobody else opens it meanwhile.
func prepare(ctx context.Context, db *sql.DB, owner storage.Owner) error {
	marked, err := markOf(ctx, db)
	if err != nil {
		return fmt.Errorf("ask whose it is: %w", err)
	}
	if err := owner.May(marked); err != nil {
		return err
	}
	if err := migrate(ctx, db); err != nil {
		return fmt.Errorf("bring its tables up to date: %w", err)
	}
	if owner.UID == "" || owner.UID == marked {
		return nil
	}
	if err := queries.New(db).PutMark(ctx, owner.UID); err != nil {
		return fmt.Errorf("mark it as this Instance's: %w", err)
	}
	return nil
}

// markOf is the UID of the Instance whose database it is, empty for nobody's.
func markOf(ctx context.Context, db *sql.DB) (string, error) {
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

// reading gives the queries for what only reads.
func (s *Store) reading() (*queries.Queries, error) {
	db := s.database.Load()
	if db == nil {
		return nil, storage.ErrNotOpen
	}
	return queries.New(db), nil
}

// writing gives the database for what writes, once its path still names the file
// that is open. What is written to a file without a name is gone with the process.
func (s *Store) writing() (*database, error) {
	db := s.database.Load()
	if db == nil {
		return nil, storage.ErrNotOpen
	}
	file, err := os.Stat(s.path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("look for the database file: %w", err)
	case !os.SameFile(file, db.file):
		return nil, fmt.Errorf("the database file %s is not the one that was opened; put that one back, or restart to use this one", s.path)
	}
	return db, nil
}

// transact does all of some work or nothing.
func (s *Store) transact(ctx context.Context, work func(*queries.Queries) error) error {
	return s.begin(ctx, func(_ *database, begun *sql.Tx) error { return work(queries.New(begun)) })
}

// begin is transact, for work with the transaction itself.
func (s *Store) begin(ctx context.Context, work func(*database, *sql.Tx) error) error {
	db, err := s.writing()
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

// create makes an empty file when there is none, so that SQLite does not make
// one that every user may read, and so that a wrong path is reported as such.
func create(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// handle prepares the only connection to the file at path.
func handle(path string, settings url.Values) (*sql.DB, error) {
	name := url.URL{Scheme: "file", Path: path, RawQuery: settings.Encode()}
	connector, err := driver.NewConnector(name.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	return db, nil
}

// AddUsage implements storage.Usage.
func (s *Store) AddUsage(ctx context.Context, batch storage.UsageBatch) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	if len(batch.Counts) == 0 {
		return nil
	}
	err := s.transact(ctx, func(add *queries.Queries) error { return addUsage(ctx, add, batch) })
	if err != nil {
		return fmt.Errorf("add %d usage counts: %w", len(batch.Counts), err)
	}
	return nil
}

func addUsage(ctx context.Context, add *queries.Queries, batch storage.UsageBatch) error {
	if batch.Number == 1 { // as good a moment as any, and rare
		if err := add.ForgetRecorders(ctx); err != nil {
			return err
		}
	}
	taken, err := add.TakeBatch(ctx, queries.TakeBatchParams{ID: batch.Recorder, Batch: batch.Number})
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

// Usage implements storage.Usage.
func (s *Store) Usage(ctx context.Context, from, to civil.Date) ([]storage.UsageCount, error) {
	read, err := s.reading()
	if err != nil {
		return nil, err
	}
	rows, err := read.Usage(ctx, queries.UsageParams{FirstDate: from, LastDate: to})
	if err != nil {
		return nil, fmt.Errorf("read the usage from %s to %s: %w", from, to, err)
	}
	counts := make([]storage.UsageCount, len(rows))
	for i, row := range rows {
		counts[i] = storage.UsageCount(row)
	}
	return counts, nil
}

// UsageTotals implements storage.Usage.
func (s *Store) UsageTotals(ctx context.Context, from, to civil.Date, endpoints []string) ([]storage.UsageTotal, error) {
	read, err := s.reading()
	if err != nil {
		return nil, err
	}
	rows, err := read.UsageTotals(ctx, queries.UsageTotalsParams{FirstDate: from, LastDate: to, Endpoints: endpoints})
	if err != nil {
		return nil, fmt.Errorf("read the totals of usage from %s to %s: %w", from, to, err)
	}
	totals := make([]storage.UsageTotal, len(rows))
	for i, row := range rows {
		totals[i] = storage.UsageTotal(row)
	}
	return totals, nil
}

// Ping implements storage.Store. It takes the lock for writing and gives it
// back.
func (s *Store) Ping(ctx context.Context) error {
	db, err := s.writing()
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin to write to the database: %w", err)
	}
	if err := tx.Rollback(); err != nil {
		return fmt.Errorf("end a transaction without changes: %w", err)
	}
	return nil
}

// Close implements storage.Store.
func (s *Store) Close() error {
	db := s.database.Load()
	if db == nil {
		return nil
	}
	if err := db.Close(); err != nil {
		return fmt.Errorf("close the database: %w", err)
	}
	return nil
}
