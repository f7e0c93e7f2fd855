// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
)

// ListUsage implements the contract.
func (h handlers) ListUsage(ctx context.Context, request contract.ListUsageRequestObject) (contract.ListUsageResponseObject, error) {
	from, to, wrong := period(orEmpty(request.Params.From), orEmpty(request.Params.To), civil.DateOf(h.Now()))
	if len(wrong) > 0 {
		return nil, refusal(wrong)
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	counts, err := h.Usage.Usage(limited, from, to)
	if err != nil {
		return nil, kept("usage counts", err)
	}
	answer := make(contract.ListUsage200JSONResponse, len(counts))
	for i, count := range counts {
		answer[i] = contract.UsageCount{
			Date:        count.Date.String(),
			Application: count.Application,
			Endpoint:    count.Endpoint,
			Calls:       count.Calls,
		}
	}
	return answer, nil
}

// period reads the first and the last day that are asked for, and says what is
// wrong with them. Left out, the last day is today and the first is thirty days
// before the last.
func period(fromText, toText string, today civil.Date) (from, to civil.Date, wrong []contract.FieldError) {
	day := func(field, text string, otherwise civil.Date) civil.Date {
		if text == "" {
			return otherwise
		}
		date, err := civil.ParseDate(text)
		if err != nil {
			wrong = append(wrong, contract.FieldError{Field: field, Message: err.Error()})
		}
		return date
	}
	to = day("to", toText, today)
	from = day("from", fromText, earlier(to))
	if len(wrong) == 0 && from.Compare(to) > 0 {
		wrong = append(wrong, contract.FieldError{Field: "from", Message: "it is after the last day, " + to.String()})
	}
	return from, to, wrong
}

// earlier is thirty days before the date, or the first date there is.
func earlier(date civil.Date) civil.Date {
	if earlier := date.AddDays(-30); earlier.Valid() {
		return earlier
	}
	return civil.Date{Year: 1, Month: time.January, Day: 1}
}
