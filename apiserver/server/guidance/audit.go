// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/middleware"
)

// ListAudit implements the contract.
func (h handlers) ListAudit(ctx context.Context, request contract.ListAuditRequestObject) (contract.ListAuditResponseObject, error) {
	params := request.Params
	wanted, wrong := readPage(ctx, params.Limit, params.Cursor)
	filter, err := readFilter(params)
	if err := joined(wrong, err); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	records, total, err := h.People.Audit(limited, filter, wanted.register())
	if err != nil {
		return nil, kept("the audit", err)
	}
	links, err := wanted.filtered(map[string]*string{
		"from": params.From, "to": params.To, "application": params.Application, "user_id": params.UserID,
		"action": params.Action, "resource": params.Resource, "resource_id": params.ResourceID,
	}).of(total)
	if err != nil {
		return nil, err
	}
	return contract.ListAudit200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: describeAudit(records),
	}, nil
}

// readFilter reads which records are asked for. A word that no record has picks
// none.
func readFilter(params contract.ListAuditParams) (audit.Filter, error) {
	var wrong refusal
	instant := func(field string, text *string) time.Time {
		if orEmpty(text) == "" {
			return time.Time{}
		}
		at, err := readInstant(*text)
		if err != nil {
			wrong = append(wrong, contract.FieldError{Field: field, Message: "expected an instant such as 2026-11-21T09:30:00Z"})
		}
		return at
	}
	for field, text := range map[string]*string{
		"application": params.Application, "user_id": params.UserID, "action": params.Action,
		"resource": params.Resource, "resource_id": params.ResourceID,
	} {
		if !middleware.Visible(orEmpty(text)) {
			wrong = append(wrong, contract.FieldError{Field: field, Message: "expected at most 128 visible ASCII characters"})
		}
	}
	filter := audit.Filter{
		From: instant("from", params.From), To: instant("to", params.To),
		Actor:      audit.Actor{Application: orEmpty(params.Application), UserID: orEmpty(params.UserID)},
		Action:     audit.Action(orEmpty(params.Action)),
		Resource:   audit.Resource(orEmpty(params.Resource)),
		ResourceID: orEmpty(params.ResourceID),
	}
	return filter, wrong.err()
}

// readInstant reads a date with a time; without an offset it is one in UTC.
func readInstant(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		at, err = time.Parse("2006-01-02T15:04:05.999999999", text)
	}
	return at, err
}

// describeAudit writes records down.
func describeAudit(records []audit.Record) []contract.AuditRecord {
	described := make([]contract.AuditRecord, len(records))
	for i, record := range records {
		described[i] = contract.AuditRecord{
			At: record.At, Application: orNull(record.Application), UserID: orNull(record.UserID),
			Action: contract.AuditRecordAction(record.Action), Resource: contract.AuditRecordResource(record.Resource),
			ResourceID: orNull(record.ResourceID),
		}
	}
	return described
}
