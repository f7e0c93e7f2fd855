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

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
)

// Store is a storage.Store on a PostgreSQL server.
type Store struct {
	pool    *pgxpool.Pool
	gate    *gate
	queries *queries.Queries
	outbox  *outbox.Inserter[pgx.Tx]
}

var _ storage.Store = (*Store)(nil)

// New returns the store in the database that url names, to which nothing is
// connected yet. The url is of the form postgres://user:password@host:port/database,
// with the parameters of libpq and of pgxpool, such as sslmode=verify-full and
// pool_max_conns=10.
func New(url string) (*Store, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, errURL
	}
	inserter, err := newInserter()
	if err != nil {
		return nil, err
	}
	gate := &gate{pool: pool}
	return &Store{pool: pool, gate: gate, queries: queries.New(gate), outbox: inserter}, nil
}

// Open implements storage.Store. Replicas may do so at the same time. Connections
// that break later are made again when they are needed.
func (s *Store) Open(ctx context.Context, owner storage.Owner) error {
	if err := s.judge(ctx, owner); err != nil {
		return err
	}
	if err := migrate(ctx, s.pool); err != nil {
		return err
	}
	if err := s.mark(ctx, owner); err != nil {
		return err
	}
	s.gate.opened.Store(true)
	return nil
}

// undefinedTable is the SQLSTATE of a table that does not exist.
const undefinedTable = "42P01"

// judge refuses a database that is another's, before anything in it is changed.
func (s *Store) judge(ctx context.Context, owner storage.Owner) error {
	marked, err := queries.New(s.pool).Mark(ctx)
	var server *pgconn.PgError
	if errors.Is(err, pgx.ErrNoRows) || errors.As(err, &server) && server.Code == undefinedTable {
		return nil
	}
	if err != nil {
		return failure(ctx, "ask whose database it is", err)
	}
	return owner.May(marked)
}

// mark notes whose database it is. Of several who mark a new one at once, the first
// has it.
func (s *Store) mark(ctx context.Context, owner storage.Owner) error {
	if owner.UID == "" {
		return nil
	}
	var foreign error
	err := pgx.BeginFunc(ctx, s.pool, func(begun pgx.Tx) error {
		if _, err := begun.Exec(ctx, "LOCK TABLE owner IN SHARE ROW EXCLUSIVE MODE"); err != nil {
			return err
		}
		q := queries.New(begun)
		marked, err := q.Mark(ctx)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if foreign = owner.May(marked); foreign != nil || marked == owner.UID {
			return nil
		}
		return q.PutMark(ctx, owner.UID)
	})
	if err != nil {
		return failure(ctx, "mark the database as this Instance's", err)
	}
	return foreign
}

// errURL leaves out what is wrong with the URL, because any part of it may be
// a piece of a password that should have been escaped.
var errURL = fmt.Errorf("%w: it has to be of the form postgres://user:password@host:port/database?sslmode=verify-full, "+
	"with percent-encoding for special characters in the user and the password, and certificates that exist", storage.ErrInvalidURL)

// parse reads the url, whose text must not reach an error.
func parse(url string) (*pgxpool.Config, error) {
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return nil, errURL
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errURL
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "anamnesis"
	}
	return config, nil
}

// AddUsage implements storage.Usage. Adding is one statement, so one transaction
// and one round trip.
func (s *Store) AddUsage(ctx context.Context, batch storage.UsageBatch) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	if len(batch.Counts) == 0 {
		return nil
	}
	err := s.forgetRecorders(ctx, batch)
	if err == nil {
		err = s.queries.AddUsage(ctx, columns(batch))
	}
	if err != nil {
		return failure(ctx, fmt.Sprintf("add %d usage counts", len(batch.Counts)), err)
	}
	return nil
}

// forgetRecorders forgets those that are long gone when another one begins,
// which is rare.
func (s *Store) forgetRecorders(ctx context.Context, batch storage.UsageBatch) error {
	if batch.Number > 1 {
		return nil
	}
	return s.queries.ForgetRecorders(ctx)
}

// columns turns the counts on their side.
func columns(batch storage.UsageBatch) queries.AddUsageParams {
	params := queries.AddUsageParams{Recorder: batch.Recorder, Batch: batch.Number}
	for _, count := range batch.Counts {
		params.Dates = append(params.Dates, count.Date)
		params.Applications = append(params.Applications, count.Application)
		params.Endpoints = append(params.Endpoints, count.Endpoint)
		params.Calls = append(params.Calls, count.Calls)
	}
	return params
}

// Usage implements storage.Usage.
func (s *Store) Usage(ctx context.Context, from, to civil.Date) ([]storage.UsageCount, error) {
	rows, err := s.queries.Usage(ctx, queries.UsageParams{FirstDate: from, LastDate: to})
	if err != nil {
		return nil, failure(ctx, fmt.Sprintf("read the usage from %s to %s", from, to), err)
	}
	counts := make([]storage.UsageCount, len(rows))
	for i, row := range rows {
		counts[i] = storage.UsageCount(row)
	}
	return counts, nil
}

// UsageTotals implements storage.Usage.
func (s *Store) UsageTotals(ctx context.Context, from, to civil.Date, endpoints []string) ([]storage.UsageTotal, error) {
	rows, err := s.queries.UsageTotals(ctx, queries.UsageTotalsParams{FirstDate: from, LastDate: to, Endpoints: endpoints})
	if err != nil {
		return nil, failure(ctx, fmt.Sprintf("read the totals of usage from %s to %s", from, to), err)
	}
	totals := make([]storage.UsageTotal, len(rows))
	for i, row := range rows {
		totals[i] = storage.UsageTotal(row)
	}
	return totals, nil
}

// Ping implements storage.Store.
func (s *Store) Ping(ctx context.Context) error {
	readOnly, err := s.queries.ReadOnly(ctx)
	switch {
	case err != nil:
		return failure(ctx, "ask PostgreSQL whether it can be written to", err)
	case readOnly:
		return errors.New("PostgreSQL is read-only, as a standby is; name the primary in the database URL")
	}
	return nil
}

// Close implements storage.Store.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}
