// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
)

// PutFeedback implements storage.Feedback.
func (s *Store) PutFeedback(ctx context.Context, interview feedback.Interview) error {
	if err := storage.ValidateFeedback(interview); err != nil {
		return err
	}
	db, err := s.writing()
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
		return fmt.Errorf("keep the feedback of an interview: %w", err)
	}
	return nil
}

// Feedback implements storage.Feedback.
func (s *Store) Feedback(ctx context.Context, skipped, atMost int64) ([]feedback.Interview, int64, error) {
	read, err := s.reading()
	if err != nil {
		return nil, 0, err
	}
	// Counted first: what comes in between is on the page or after its end.
	total, err := read.CountFeedback(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("count the feedback of interviews: %w", err)
	}
	rows, err := read.Feedback(ctx, queries.FeedbackParams{Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, fmt.Errorf("read the feedback of interviews: %w", err)
	}
	page := make([]feedback.Interview, len(rows))
	for i, row := range rows {
		page[i] = feedback.Interview{
			Application: row.Application,
			ID:          row.InterviewID,
			Before:      feedback.Intent(row.PatientIntentBefore),
			After:       feedback.Intent(row.PatientIntentAfter),
			ReceivedAt:  time.UnixMicro(row.ReceivedAt).UTC(),
		}
	}
	return page, total, nil
}
