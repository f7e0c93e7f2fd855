// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
)

// PutFeedback implements storage.FeedbackStore.
func (s *Store) PutFeedback(ctx context.Context, interview feedback.InterviewFeedback) error {
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
		return wrapError(ctx, "storing interview feedback", err)
	}
	return nil
}

// ListFeedback implements storage.FeedbackStore.
func (s *Store) ListFeedback(ctx context.Context, skipped, atMost int64) ([]feedback.InterviewFeedback, int64, error) {
	// Count first: rows inserted in between are on this page or after it.
	total, err := s.queries.CountFeedback(ctx)
	if err != nil {
		return nil, 0, wrapError(ctx, "counting interview feedback", err)
	}
	rows, err := s.queries.Feedback(ctx, queries.FeedbackParams{Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, wrapError(ctx, "listing interview feedback", err)
	}
	page := make([]feedback.InterviewFeedback, len(rows))
	for i, row := range rows {
		page[i] = feedback.InterviewFeedback{
			Application: row.Application,
			ID:          row.InterviewID,
			Before:      feedback.Intent(row.PatientIntentBefore),
			After:       feedback.Intent(row.PatientIntentAfter),
			ReceivedAt:  row.ReceivedAt.UTC(),
		}
	}
	return page, total, nil
}
