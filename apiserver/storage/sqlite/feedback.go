// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
)

// PutFeedback implements storage.FeedbackStore.
func (s *Store) PutFeedback(ctx context.Context, interview feedback.InterviewFeedback) error {
	if err := storage.ValidateFeedback(interview); err != nil {
		return err
	}
	db, err := s.writableDB()
	if err != nil {
		return err
	}
	err = queries.New(db).PutFeedback(ctx, queries.PutFeedbackParams{
		Application:         interview.Application,
		InterviewID:         interview.ID,
		PatientIntentBefore: storage.Intent(interview.Before),
		PatientIntentAfter:  storage.Intent(interview.After),
		ReceivedAt:          interview.ReceivedAt.UnixMicro(),
	})
	if err != nil {
		return fmt.Errorf("storing interview feedback: %w", err)
	}
	return nil
}

// ListFeedback implements storage.FeedbackStore.
func (s *Store) ListFeedback(ctx context.Context, skipped, atMost int64) ([]feedback.InterviewFeedback, int64, error) {
	read, err := s.readQueries()
	if err != nil {
		return nil, 0, err
	}
	// Count first: rows inserted in between are on this page or after it.
	total, err := read.CountFeedback(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("counting interview feedback: %w", err)
	}
	rows, err := read.Feedback(ctx, queries.FeedbackParams{Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, fmt.Errorf("listing interview feedback: %w", err)
	}
	page := make([]feedback.InterviewFeedback, len(rows))
	for i, row := range rows {
		page[i] = feedback.InterviewFeedback{
			Application: row.Application,
			ID:          row.InterviewID,
			Before:      feedback.Intent(row.PatientIntentBefore),
			After:       feedback.Intent(row.PatientIntentAfter),
			ReceivedAt:  time.UnixMicro(row.ReceivedAt).UTC(),
		}
	}
	return page, total, nil
}
