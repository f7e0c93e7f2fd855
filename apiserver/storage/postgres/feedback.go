// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
)

// PutFeedback implements storage.Feedback.
func (s *Store) PutFeedback(ctx context.Context, interview feedback.Interview) error {
	if err := storage.ValidateFeedback(interview); err != nil {
		return err
	}
	err := s.queries.PutFeedback(ctx, queries.PutFeedbackParams{
		Application:         interview.Application,
		InterviewID:         interview.ID,
		PatientIntentBefore: storage.Intent(interview.Before),
		PatientIntentAfter:  storage.Intent(interview.After),
		ReceivedAt:          interview.ReceivedAt.Truncate(time.Microsecond),
	})
	if err != nil {
		return failure(ctx, "keep the feedback of an interview", err)
	}
	return nil
}

// Feedback implements storage.Feedback.
func (s *Store) Feedback(ctx context.Context, skipped, atMost int64) ([]feedback.Interview, int64, error) {
	// Counted first: what comes in between is on the page or after its end.
	total, err := s.queries.CountFeedback(ctx)
	if err != nil {
		return nil, 0, failure(ctx, "count the feedback of interviews", err)
	}
	rows, err := s.queries.Feedback(ctx, queries.FeedbackParams{Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, failure(ctx, "read the feedback of interviews", err)
	}
	page := make([]feedback.Interview, len(rows))
	for i, row := range rows {
		page[i] = feedback.Interview{
			Application: row.Application,
			ID:          row.InterviewID,
			Before:      feedback.Intent(row.PatientIntentBefore),
			After:       feedback.Intent(row.PatientIntentAfter),
			ReceivedAt:  row.ReceivedAt.UTC(),
		}
	}
	return page, total, nil
}
