// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
)

func recordOf(row queries.AuditRow) audit.Record {
	return audit.Record{
		At: row.At.UTC(), Actor: audit.Actor{Application: row.Application, UserID: row.UserID},
		Action: audit.Action(row.Action), Resource: audit.Resource(row.Resource), ResourceID: row.ResourceID,
	}
}

// InsertAudit implements storage.Audit.
func (t tx) InsertAudit(ctx context.Context, record audit.Record) error {
	err := t.Queries.InsertAudit(ctx, queries.InsertAuditParams{
		At: record.At.Truncate(time.Microsecond), Application: record.Application, UserID: record.UserID,
		Action: string(record.Action), Resource: string(record.Resource), ResourceID: record.ResourceID,
	})
	if err != nil {
		return failure(ctx, "keep a record of the audit", err)
	}
	return nil
}

// Audit implements storage.Audit.
func (t tx) Audit(ctx context.Context, filter audit.Filter, skipped, atMost int64) ([]audit.Record, int64, error) {
	first, before := filter.Period()
	total, err := t.CountAudit(ctx, queries.CountAuditParams{
		First: first, Before: before, Application: filter.Application, UserID: filter.UserID,
		Action: string(filter.Action), Resource: string(filter.Resource), ResourceID: filter.ResourceID,
	})
	if err != nil {
		return nil, 0, failure(ctx, "count the records of the audit", err)
	}
	rows, err := t.Queries.Audit(ctx, queries.AuditParams{
		First: first, Before: before, Application: filter.Application, UserID: filter.UserID,
		Action: string(filter.Action), Resource: string(filter.Resource), ResourceID: filter.ResourceID,
		Skipped: skipped, AtMost: atMost,
	})
	if err != nil {
		return nil, 0, failure(ctx, "read the audit", err)
	}
	page := make([]audit.Record, len(rows))
	for i, row := range rows {
		page[i] = recordOf(row)
	}
	return page, total, nil
}

// AuditOfUser implements storage.Audit.
func (t tx) AuditOfUser(ctx context.Context, id string, atMost int64) ([]audit.Record, error) {
	rows, err := t.Queries.AuditOfUser(ctx, queries.AuditOfUserParams{ID: id, AtMost: atMost})
	if err != nil {
		return nil, failure(ctx, "read the audit of a user", err)
	}
	records := make([]audit.Record, len(rows))
	for i, row := range rows {
		records[i] = recordOf(queries.AuditRow(row))
	}
	return records, nil
}
