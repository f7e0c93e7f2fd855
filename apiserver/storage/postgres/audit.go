// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
)

func toAuditRecord(row queries.AuditRow) audit.Record {
	return audit.Record{
		At: row.At.UTC(), Actor: audit.Actor{Application: row.Application, UserID: row.UserID},
		Action: audit.Action(row.Action), Resource: audit.Resource(row.Resource), ResourceID: row.ResourceID,
	}
}

// InsertAuditRecord implements storage.AuditStore.
func (t tx) InsertAuditRecord(ctx context.Context, record audit.Record) error {
	err := t.InsertAudit(ctx, queries.InsertAuditParams{
		At: record.At.Truncate(time.Microsecond), Application: record.Application, UserID: record.UserID,
		Action: string(record.Action), Resource: string(record.Resource), ResourceID: record.ResourceID,
	})
	if err != nil {
		return wrapError(ctx, "storing audit record", err)
	}
	return nil
}

// ListAuditRecords implements storage.AuditStore.
func (t tx) ListAuditRecords(ctx context.Context, filter audit.Filter, skipped, atMost int64) ([]audit.Record, int64, error) {
	first, before := filter.Period()
	total, err := t.CountAudit(ctx, queries.CountAuditParams{
		First: first, Before: before, Application: filter.Application, UserID: filter.UserID,
		Action: string(filter.Action), Resource: string(filter.Resource), ResourceID: filter.ResourceID,
	})
	if err != nil {
		return nil, 0, wrapError(ctx, "counting audit records", err)
	}
	rows, err := t.Audit(ctx, queries.AuditParams{
		First: first, Before: before, Application: filter.Application, UserID: filter.UserID,
		Action: string(filter.Action), Resource: string(filter.Resource), ResourceID: filter.ResourceID,
		Skipped: skipped, AtMost: atMost,
	})
	if err != nil {
		return nil, 0, wrapError(ctx, "listing audit records", err)
	}
	page := make([]audit.Record, len(rows))
	for i, row := range rows {
		page[i] = toAuditRecord(row)
	}
	return page, total, nil
}

// ListUserAuditRecords implements storage.AuditStore.
func (t tx) ListUserAuditRecords(ctx context.Context, id string, atMost int64) ([]audit.Record, error) {
	rows, err := t.AuditOfUser(ctx, queries.AuditOfUserParams{ID: id, AtMost: atMost})
	if err != nil {
		return nil, wrapError(ctx, "listing audit records of user", err)
	}
	records := make([]audit.Record, len(rows))
	for i, row := range rows {
		records[i] = toAuditRecord(queries.AuditRow(row))
	}
	return records, nil
}
