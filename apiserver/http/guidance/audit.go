// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"time"

	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/identifier"
)

// ListAudit implements contract.StrictServerInterface.
func (h handlers) ListAudit(ctx context.Context, request contract.ListAuditRequestObject) (contract.ListAuditResponseObject, error) {
	params := request.Params
	requested, fieldErrs := readPagination(ctx, params.Limit, params.Cursor)
	filter, err := readAuditFilter(params)
	if err := joinValidationErrors(fieldErrs, err); err != nil {
		return nil, err
	}
	records, total, err := h.Users.ListAuditRecords(ctx, filter, requested.page())
	if err != nil {
		return nil, wrapStorageError("audit records", err)
	}
	links, err := requested.withFilters(map[string]*string{
		"from": params.From, "to": params.To, "application": params.Application, "user_id": params.UserID,
		"action": params.Action, "resource": params.Resource, "resource_id": params.ResourceID,
	}).links(total)
	if err != nil {
		return nil, err
	}
	return contract.ListAudit200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: encodeAudit(records),
	}, nil
}

// readAuditFilter parses the filter of audit records. Unknown values match no records.
func readAuditFilter(params contract.ListAuditParams) (audit.Filter, error) {
	var fieldErrs validationError
	readTime := func(field string, text *string) time.Time {
		if stringOrEmpty(text) == "" {
			return time.Time{}
		}
		timestamp, err := parseTimestamp(*text)
		if err != nil {
			fieldErrs = append(fieldErrs, contract.FieldError{Field: field, Message: "expected a timestamp such as 2026-11-21T09:30:00Z"})
		}
		return timestamp
	}
	for field, text := range map[string]*string{
		"application": params.Application, "user_id": params.UserID, "action": params.Action,
		"resource": params.Resource, "resource_id": params.ResourceID,
	} {
		if !identifier.IsVisibleASCII(stringOrEmpty(text), identifier.MaxLength) {
			fieldErrs = append(fieldErrs, contract.FieldError{Field: field, Message: "expected at most 128 visible ASCII characters"})
		}
	}
	filter := audit.Filter{
		From: readTime("from", params.From), To: readTime("to", params.To),
		Actor:      audit.Actor{Application: stringOrEmpty(params.Application), UserID: stringOrEmpty(params.UserID)},
		Action:     audit.Action(stringOrEmpty(params.Action)),
		Resource:   audit.Resource(stringOrEmpty(params.Resource)),
		ResourceID: stringOrEmpty(params.ResourceID),
	}
	return filter, fieldErrs.errorOrNil()
}

// parseTimestamp parses a date and time. The offset defaults to UTC.
func parseTimestamp(text string) (time.Time, error) {
	timestamp, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		timestamp, err = time.Parse("2006-01-02T15:04:05.999999999", text)
	}
	return timestamp, err
}

// encodeAudit encodes audit records.
func encodeAudit(records []audit.Record) []contract.AuditRecord {
	encoded := make([]contract.AuditRecord, len(records))
	for i, record := range records {
		encoded[i] = contract.AuditRecord{
			At: record.At, Application: nilIfEmpty(record.Application), UserID: nilIfEmpty(record.UserID),
			Action: contract.AuditRecordAction(record.Action), Resource: contract.AuditRecordResource(record.Resource),
			ResourceID: nilIfEmpty(record.ResourceID),
		}
	}
	return encoded
}
