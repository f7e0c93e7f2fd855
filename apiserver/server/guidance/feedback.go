// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/feedback"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
)

// Feedback reads what patients meant to do; every storage.Store does.
type Feedback interface {
	Feedback(ctx context.Context, skipped, atMost int64) (page []feedback.Interview, total int64, err error)
}

// ListInterviewFeedback implements the contract.
func (h handlers) ListInterviewFeedback(ctx context.Context, request contract.ListInterviewFeedbackRequestObject) (contract.ListInterviewFeedbackResponseObject, error) {
	wanted, wrong := readPage(ctx, request.Params.Limit, request.Params.Cursor)
	if len(wrong) > 0 {
		return nil, refusal(wrong)
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	interviews, total, err := h.Feedback.Feedback(limited, wanted.skipped(), wanted.limit)
	if err != nil {
		return nil, kept("the feedback of interviews", err)
	}
	links, err := wanted.of(total)
	if err != nil {
		return nil, err
	}
	answer := contract.ListInterviewFeedback200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.InterviewFeedback, len(interviews)),
	}
	for i, interview := range interviews {
		answer.Items[i] = contract.InterviewFeedback{
			Application:         interview.Application,
			InterviewID:         interview.ID,
			PatientIntentBefore: interview.Before,
			PatientIntentAfter:  interview.After,
			ReceivedAt:          interview.ReceivedAt,
		}
	}
	return answer, nil
}
