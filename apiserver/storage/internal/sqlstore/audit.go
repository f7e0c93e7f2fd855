// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore/queries"
)

func toAuditRecord(row queries.AuditRow) audit.Record {
	return audit.Record{
		At: row.At.UTC(), Actor: audit.Actor{Application: row.Application, UserID: row.UserID},
		Action: audit.Action(row.Action), Resource: audit.Resource(row.Resource), ResourceID: row.ResourceID,
	}
}

// InsertAuditRecord implements storage.AuditStore.
func (t *Tx) InsertAuditRecord(ctx context.Context, record audit.Record) error {
	err := t.InsertAudit(ctx, queries.InsertAuditParams{
		At: record.At, Application: record.Application, UserID: record.UserID,
		Action: string(record.Action), Resource: string(record.Resource), ResourceID: record.ResourceID,
	})
	return t.wrap(ctx, "storing audit record", err)
}

// ListAuditRecords implements storage.AuditStore.
func (t *Tx) ListAuditRecords(ctx context.Context, filter audit.Filter, offset, limit int64) ([]audit.Record, int64, error) {
	first, before := filter.Period()
	total, err := t.CountAudit(ctx, queries.CountAuditParams{
		First: first, Before: before, Application: filter.Application, UserID: filter.UserID,
		Action: string(filter.Action), Resource: string(filter.Resource), ResourceID: filter.ResourceID,
	})
	if err != nil {
		return nil, 0, t.wrap(ctx, "counting audit records", err)
	}
	rows, err := t.Audit(ctx, queries.AuditParams{
		First: first, Before: before, Application: filter.Application, UserID: filter.UserID,
		Action: string(filter.Action), Resource: string(filter.Resource), ResourceID: filter.ResourceID,
		Offset: offset, Limit: limit,
	})
	return convert(rows, toAuditRecord), total, t.wrap(ctx, "listing audit records", err)
}

// ListUserAuditRecords implements storage.AuditStore.
func (t *Tx) ListUserAuditRecords(ctx context.Context, id string, limit int64) ([]audit.Record, error) {
	rows, err := t.UserAudit(ctx, queries.UserAuditParams{ID: id, Limit: limit})
	records := convert(rows, func(row queries.UserAuditRow) audit.Record { return toAuditRecord(queries.AuditRow(row)) })
	return records, t.wrap(ctx, "listing audit records of user", err)
}
