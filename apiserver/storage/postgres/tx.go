// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// maxTransactionAttempts limits how often a transaction is attempted if it conflicts with
// others.
const maxTransactionAttempts = 4

// View implements storage.Transactor.
func (s *Store) View(ctx context.Context, work func(storage.Reader) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return s.retry(ctx, options, func(tx *sqlstore.Tx) error { return work(tx) })
}

// Transact implements storage.Transactor.
func (s *Store) Transact(ctx context.Context, work func(storage.Tx) error) error {
	return s.retry(ctx, pgx.TxOptions{}, func(tx *sqlstore.Tx) error { return work(tx) })
}

// retry runs a transaction, and retries it if it conflicts with others.
func (s *Store) retry(ctx context.Context, options pgx.TxOptions, work func(*sqlstore.Tx) error) (err error) {
	for range maxTransactionAttempts {
		if err = s.transact(ctx, options, work); !errors.Is(err, record.ErrConflict) {
			return err
		}
	}
	return err
}

func (s *Store) transact(ctx context.Context, options pgx.TxOptions, work func(*sqlstore.Tx) error) error {
	begun, err := s.gate.BeginTx(ctx, options)
	if err != nil {
		return wrapError(ctx, "beginning transaction", err)
	}
	defer begun.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // does nothing after a commit
	if err := work(sqlstore.NewTx(txDriver{begun, s.outbox.WithTx(begun)})); err != nil {
		return err
	}
	if err := begun.Commit(ctx); err != nil {
		return wrapError(ctx, "committing transaction", err)
	}
	return nil
}

// txDriver implements sqlstore.TxDriver.
type txDriver struct {
	pgx.Tx
	outbox.Jobs
}

// WrapError implements sqlstore.Driver.
func (txDriver) WrapError(ctx context.Context, operation string, err error) error {
	return wrapError(ctx, operation, err)
}

// InsertAttempts implements sqlstore.TxDriver with one statement.
func (t txDriver) InsertAttempts(ctx context.Context, attempts []sqlstore.AttemptRow) error {
	var rows queries.InsertWebhookAttemptsParams
	for _, attempt := range attempts {
		rows.Ids = append(rows.Ids, attempt.ID)
		rows.WebhookIds = append(rows.WebhookIds, attempt.WebhookID)
		rows.Times = append(rows.Times, attempt.At)
		rows.Documents = append(rows.Documents, attempt.Document)
	}
	return queries.New(t.Tx).InsertWebhookAttempts(ctx, rows)
}
