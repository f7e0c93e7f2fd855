// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"

	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
)

// A FeedbackStore lists interview feedback. Every storage.Store implements it.
type FeedbackStore interface {
	ListFeedback(ctx context.Context, offset, limit int64) (page []feedback.InterviewFeedback, total int64, err error)
}

// ListInterviewFeedback implements contract.StrictServerInterface.
func (h handlers) ListInterviewFeedback(ctx context.Context, request contract.ListInterviewFeedbackRequestObject) (contract.ListInterviewFeedbackResponseObject, error) {
	requested, fieldErrs := readPagination(ctx, request.Params.Limit, request.Params.Cursor)
	if len(fieldErrs) > 0 {
		return nil, validationError(fieldErrs)
	}
	interviews, total, err := h.Feedback.ListFeedback(ctx, requested.offset(), requested.limit)
	if err != nil {
		return nil, wrapStorageError("interview feedback", err)
	}
	links, err := requested.links(total)
	if err != nil {
		return nil, err
	}
	response := contract.ListInterviewFeedback200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.InterviewFeedback, len(interviews)),
	}
	for i, interview := range interviews {
		response.Items[i] = contract.InterviewFeedback{
			Application:         interview.Application,
			InterviewID:         interview.ID,
			PatientIntentBefore: interview.Before,
			PatientIntentAfter:  interview.After,
			ReceivedAt:          interview.ReceivedAt,
		}
	}
	return response, nil
}
