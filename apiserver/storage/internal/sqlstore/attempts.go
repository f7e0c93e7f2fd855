// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

// AttemptRow is a row of the table webhook_attempts.
type AttemptRow struct {
	ID        string
	WebhookID string
	At        time.Time
	Document  string
}

// InsertWebhookAttempts implements storage.WebhookStore.
func (t *Tx) InsertWebhookAttempts(ctx context.Context, attempts []event.Attempt) error {
	for id, attempts := range event.GroupByWebhook(attempts) {
		updated, err := t.AddToWebhookAttemptCount(ctx, queries.AddToWebhookAttemptCountParams{ID: id, Added: int64(len(attempts))})
		if err != nil {
			return t.wrap(ctx, "counting webhook attempts", err)
		}
		if updated == 0 { // the webhook was deleted
			continue
		}
		if err := t.insertAttempts(ctx, attempts); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) insertAttempts(ctx context.Context, attempts []event.Attempt) error {
	rows := make([]AttemptRow, len(attempts))
	for i, attempt := range attempts {
		document, err := marshalDocument("webhook attempt", attempt)
		if err != nil {
			return err
		}
		rows[i] = AttemptRow{ID: attempt.ID, WebhookID: attempt.WebhookID, At: attempt.At, Document: document}
	}
	return t.wrap(ctx, "storing webhook attempts", t.driver.InsertAttempts(ctx, rows))
}

func toAttempt(row queries.WebhookAttemptRow) (event.Attempt, error) {
	attempt, err := unmarshalDocument[event.Attempt]("webhook attempt", row.Document)
	if err != nil {
		return event.Attempt{}, err
	}
	attempt.ID, attempt.WebhookID, attempt.At = row.ID, row.WebhookID, row.At.UTC()
	return attempt, nil
}

// GetWebhookAttempt implements storage.WebhookStore.
func (t *Tx) GetWebhookAttempt(ctx context.Context, webhookID, id string) (event.Attempt, error) {
	row, err := t.WebhookAttempt(ctx, queries.WebhookAttemptParams{ID: id, WebhookID: webhookID})
	if err != nil {
		return event.Attempt{}, t.wrapFound(ctx, "reading webhook attempt", err)
	}
	return toAttempt(row)
}

// ListWebhookAttempts implements storage.WebhookStore.
func (t *Tx) ListWebhookAttempts(ctx context.Context, webhookID string, offset, limit int64) ([]event.Attempt, int64, error) {
	total, err := t.CountWebhookAttempts(ctx, webhookID)
	if err != nil {
		return nil, 0, t.wrapFound(ctx, "counting webhook attempts", err)
	}
	rows, err := t.WebhookAttempts(ctx, queries.WebhookAttemptsParams{WebhookID: webhookID, Offset: offset, Limit: limit})
	if err != nil {
		return nil, 0, t.wrap(ctx, "listing webhook attempts", err)
	}
	page := make([]event.Attempt, len(rows))
	for i, row := range rows {
		if page[i], err = toAttempt(queries.WebhookAttemptRow(row)); err != nil {
			return nil, 0, err
		}
	}
	return page, total, nil
}

// DeleteWebhookAttempts implements storage.WebhookStore.
func (t *Tx) DeleteWebhookAttempts(ctx context.Context, before time.Time, limit int64) (int64, error) {
	rows, err := t.ExpiredWebhookAttempts(ctx, queries.ExpiredWebhookAttemptsParams{Before: before, Limit: limit})
	if err != nil {
		return 0, t.wrap(ctx, "listing expired webhook attempts", err)
	}
	deletedByWebhook := map[string]int64{}
	for _, row := range rows {
		deleted, err := t.DeleteWebhookAttempt(ctx, row.ID)
		if err != nil {
			return 0, t.wrap(ctx, "deleting expired webhook attempt", err)
		}
		deletedByWebhook[row.WebhookID] += deleted // zero if another replica deleted the attempt first
	}
	for _, id := range slices.Sorted(maps.Keys(deletedByWebhook)) {
		if _, err := t.AddToWebhookAttemptCount(ctx, queries.AddToWebhookAttemptCountParams{ID: id, Added: -deletedByWebhook[id]}); err != nil {
			return 0, t.wrap(ctx, "counting webhook attempts", err)
		}
	}
	return int64(len(rows)), nil
}
