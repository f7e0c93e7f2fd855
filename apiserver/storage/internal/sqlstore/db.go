// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"context"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore/queries"
)

// DB runs statements outside of transactions. It implements storage.FeedbackStore and
// part of storage.UsageStore.
type DB struct{ run runner }

// NewDB returns a DB that runs its queries on a driver.
func NewDB(driver Driver) DB { return DB{newRunner(driver)} }

// ListUsage implements storage.UsageStore.
func (d DB) ListUsage(ctx context.Context, from, to civil.Date) ([]usage.Count, error) {
	rows, err := d.run.Usage(ctx, queries.UsageParams{FirstDate: from, LastDate: to})
	if err != nil {
		return nil, d.run.wrap(ctx, fmt.Sprintf("reading usage from %s to %s", from, to), err)
	}
	return convert(rows, func(row queries.UsageCount) usage.Count { return usage.Count(row) }), nil
}

// PutFeedback implements storage.FeedbackStore.
func (d DB) PutFeedback(ctx context.Context, interview feedback.InterviewFeedback) error {
	if err := storage.ValidateFeedback(interview); err != nil {
		return err
	}
	err := d.run.PutFeedback(ctx, queries.PutFeedbackParams{
		Application:         interview.Application,
		InterviewID:         interview.ID,
		PatientIntentBefore: storage.Intent(interview.Before),
		PatientIntentAfter:  storage.Intent(interview.After),
		ReceivedAt:          interview.ReceivedAt,
	})
	return d.run.wrap(ctx, "storing interview feedback", err)
}

// ListFeedback implements storage.FeedbackStore.
func (d DB) ListFeedback(ctx context.Context, offset, limit int64) ([]feedback.InterviewFeedback, int64, error) {
	// Count first: rows inserted in between are on this page or after it.
	total, err := d.run.CountFeedback(ctx)
	if err != nil {
		return nil, 0, d.run.wrap(ctx, "counting interview feedback", err)
	}
	rows, err := d.run.Feedback(ctx, queries.FeedbackParams{Offset: offset, Limit: limit})
	if err != nil {
		return nil, 0, d.run.wrap(ctx, "listing interview feedback", err)
	}
	return convert(rows, toFeedback), total, nil
}

func toFeedback(row queries.FeedbackRow) feedback.InterviewFeedback {
	return feedback.InterviewFeedback{
		Application: row.Application,
		ID:          row.InterviewID,
		Before:      feedback.Intent(row.PatientIntentBefore),
		After:       feedback.Intent(row.PatientIntentAfter),
		ReceivedAt:  row.ReceivedAt.UTC(),
	}
}
