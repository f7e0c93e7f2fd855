// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// Store is a storage.Store on a PostgreSQL server.
type Store struct {
	sqlstore.DB
	pool    *pgxpool.Pool
	gate    *gate
	queries *queries.Queries
	outbox  *outbox.Inserter[pgx.Tx]
}

var _ storage.Store = (*Store)(nil)

// New returns a store for the database at url without connecting to it. The URL has the
// form postgres://user:password@host:port/database, with parameters of libpq and pgxpool
// such as sslmode=verify-full and pool_max_conns=10.
func New(url string) (*Store, error) {
	config, err := parseConfig(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, errInvalidURL
	}
	inserter, err := newInserter()
	if err != nil {
		return nil, err
	}
	gate := &gate{pool: pool}
	return &Store{DB: sqlstore.NewDB(gate), pool: pool, gate: gate, queries: queries.New(gate), outbox: inserter}, nil
}

// Open implements storage.Store. Replicas may open the store concurrently. Broken
// connections are re-established on demand.
func (s *Store) Open(ctx context.Context, owner storage.Owner) error {
	if err := s.checkOwner(ctx, owner); err != nil {
		return err
	}
	if err := migrate(ctx, s.pool); err != nil {
		return err
	}
	if err := s.setOwner(ctx, owner); err != nil {
		return err
	}
	s.gate.ready.Store(true)
	return nil
}

// sqlStateUndefinedTable is the SQLSTATE of a table that does not exist.
const sqlStateUndefinedTable = "42P01"

// checkOwner rejects a database owned by another Instance before anything is changed.
func (s *Store) checkOwner(ctx context.Context, owner storage.Owner) error {
	ownerUID, err := sqlstore.GetOwner(ctx, s.pool)
	var server *pgconn.PgError
	if errors.As(err, &server) && server.Code == sqlStateUndefinedTable {
		return nil
	}
	if err != nil {
		return wrapError(ctx, "reading database owner", err)
	}
	return owner.CheckMarker(ownerUID)
}

// setOwner marks the database with its owner. If several owners mark a new database
// concurrently, the first one wins.
func (s *Store) setOwner(ctx context.Context, owner storage.Owner) error {
	if owner.UID == "" {
		return nil
	}
	var ownerErr error
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "LOCK TABLE owner IN SHARE ROW EXCLUSIVE MODE"); err != nil {
			return err
		}
		ownerUID, err := sqlstore.GetOwner(ctx, tx)
		if err != nil {
			return err
		}
		if ownerErr = owner.CheckMarker(ownerUID); ownerErr != nil || ownerUID == owner.UID {
			return nil
		}
		return sqlstore.PutOwner(ctx, tx, owner.UID)
	})
	if err != nil {
		return wrapError(ctx, "recording database owner", err)
	}
	return ownerErr
}

// errInvalidURL does not describe the error in the URL, because any part of the URL may
// belong to an unescaped password.
var errInvalidURL = fmt.Errorf("%w: use postgres://user:password@host:port/database?sslmode=verify-full, "+
	"percent-encode special characters in the user name and password, and make sure that the certificate files exist", storage.ErrInvalidURL)

// parseConfig parses the URL. Its errors do not contain the URL.
func parseConfig(url string) (*pgxpool.Config, error) {
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return nil, errInvalidURL
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errInvalidURL
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "anamnesis"
	}
	return config, nil
}

// AddUsage implements storage.UsageStore. It runs a single statement: one transaction
// and one round trip.
func (s *Store) AddUsage(ctx context.Context, batch usage.Batch) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	if len(batch.Counts) == 0 {
		return nil
	}
	err := s.deleteStaleRecorders(ctx, batch)
	if err == nil {
		err = s.queries.AddUsage(ctx, usageColumns(batch))
	}
	if err != nil {
		return wrapError(ctx, fmt.Sprintf("adding %d usage counts", len(batch.Counts)), err)
	}
	return nil
}

// deleteStaleRecorders deletes recorders that have been inactive for a month. It runs on
// the first batch of a new recorder, which is rare.
func (s *Store) deleteStaleRecorders(ctx context.Context, batch usage.Batch) error {
	if batch.Sequence > 1 {
		return nil
	}
	return s.queries.DeleteStaleRecorders(ctx)
}

// usageColumns converts the counts from rows to columns.
func usageColumns(batch usage.Batch) queries.AddUsageParams {
	params := queries.AddUsageParams{Recorder: batch.Recorder, Batch: batch.Sequence}
	for _, count := range batch.Counts {
		params.Dates = append(params.Dates, count.Date)
		params.Applications = append(params.Applications, count.Application)
		params.Endpoints = append(params.Endpoints, count.Endpoint)
		params.Calls = append(params.Calls, count.Calls)
	}
	return params
}

// ListUsageTotals implements storage.UsageStore.
func (s *Store) ListUsageTotals(ctx context.Context, from, to civil.Date, endpoints []string) ([]usage.Total, error) {
	rows, err := s.queries.UsageTotals(ctx, queries.UsageTotalsParams{FirstDate: from, LastDate: to, Endpoints: endpoints})
	if err != nil {
		return nil, wrapError(ctx, fmt.Sprintf("reading usage totals from %s to %s", from, to), err)
	}
	totals := make([]usage.Total, len(rows))
	for i, row := range rows {
		totals[i] = usage.Total(row)
	}
	return totals, nil
}

// Ping implements storage.Store.
func (s *Store) Ping(ctx context.Context) error {
	readOnly, err := s.queries.ReadOnly(ctx)
	switch {
	case err != nil:
		return wrapError(ctx, "checking whether PostgreSQL is writable", err)
	case readOnly:
		return errors.New("PostgreSQL is read-only, such as a standby; use the primary in the database URL")
	}
	return nil
}

// Close implements storage.Store.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}
