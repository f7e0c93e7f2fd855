// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"time"

	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

// ListUsage implements contract.StrictServerInterface.
func (h handlers) ListUsage(ctx context.Context, request contract.ListUsageRequestObject) (contract.ListUsageResponseObject, error) {
	from, to, fieldErrs := readPeriod(stringOrEmpty(request.Params.From), stringOrEmpty(request.Params.To), civil.DateOf(h.Now()))
	if len(fieldErrs) > 0 {
		return nil, validationError(fieldErrs)
	}
	counts, err := h.Usage.ListUsage(ctx, from, to)
	if err != nil {
		return nil, wrapStorageError("usage counts", err)
	}
	response := make(contract.ListUsage200JSONResponse, len(counts))
	for i, count := range counts {
		response[i] = contract.UsageCount{
			Date:        count.Date.String(),
			Application: count.Application,
			Endpoint:    count.Endpoint,
			Calls:       count.Calls,
		}
	}
	return response, nil
}

// readPeriod parses the first and the last day of a period, and returns the invalid
// parameters. The last day defaults to today, the first to thirty days earlier.
func readPeriod(fromText, toText string, today civil.Date) (from, to civil.Date, fieldErrs []contract.FieldError) {
	readDate := func(field, text string, defaultDate civil.Date) civil.Date {
		if text == "" {
			return defaultDate
		}
		date, err := civil.ParseDate(text)
		if err != nil {
			fieldErrs = append(fieldErrs, contract.FieldError{Field: field, Message: err.Error()})
		}
		return date
	}
	to = readDate("to", toText, today)
	from = readDate("from", fromText, defaultPeriodStart(to))
	if len(fieldErrs) == 0 && from.Compare(to) > 0 {
		fieldErrs = append(fieldErrs, contract.FieldError{Field: "from", Message: "must not be after the last day, " + to.String()})
	}
	return from, to, fieldErrs
}

// defaultPeriodStart returns the date thirty days earlier, or the first valid date.
func defaultPeriodStart(date civil.Date) civil.Date {
	if earlier := date.AddDays(-30); earlier.IsValid() {
		return earlier
	}
	return civil.Date{Year: 1, Month: time.January, Day: 1}
}
