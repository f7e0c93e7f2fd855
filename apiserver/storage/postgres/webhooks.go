// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
)

func webhookOf(row queries.WebhookRow) (storage.Webhook, error) {
	settings, err := storage.FromJSON[storage.WebhookSettings]("webhook configuration", row.Document)
	if err != nil {
		return storage.Webhook{}, err
	}
	return storage.Webhook{
		ID: row.ID, Settings: settings[0], Secrets: row.Secrets, Generation: row.Generation,
		Health: events.Health{Disabled: row.Disabled, Failures: int(row.Failures), ClosedUntil: row.ClosedUntil.UTC()},
	}, nil
}

// InsertWebhook implements storage.Webhooks.
func (t tx) InsertWebhook(ctx context.Context, webhook storage.Webhook) error {
	document, err := storage.ToJSON("webhook configuration", webhook.Settings)
	if err != nil {
		return err
	}
	err = t.Queries.InsertWebhook(ctx, queries.InsertWebhookParams{
		ID: webhook.ID, Document: document, Secrets: webhook.Secrets, Generation: webhook.Generation,
	})
	if err != nil {
		return failure(ctx, "keep a webhook configuration", err)
	}
	return t.UpdateWebhookHealth(ctx, webhook.ID, webhook.Health)
}

// Webhook implements storage.Webhooks.
func (t tx) Webhook(ctx context.Context, id string) (storage.Webhook, error) {
	row, err := t.Queries.Webhook(ctx, id)
	if err != nil {
		return storage.Webhook{}, found(ctx, "read a webhook configuration", err)
	}
	return webhookOf(row)
}

// LockWebhook implements storage.Webhooks.
func (t tx) LockWebhook(ctx context.Context, id string) (storage.Webhook, error) {
	row, err := t.Queries.LockWebhook(ctx, id)
	if err != nil {
		return storage.Webhook{}, found(ctx, "read a webhook configuration", err)
	}
	return webhookOf(queries.WebhookRow(row))
}

// Webhooks implements storage.Webhooks.
func (t tx) Webhooks(ctx context.Context) ([]storage.Webhook, error) {
	rows, err := t.Queries.Webhooks(ctx)
	if err != nil {
		return nil, failure(ctx, "read webhook configurations", err)
	}
	webhooks := make([]storage.Webhook, len(rows))
	for i, row := range rows {
		if webhooks[i], err = webhookOf(queries.WebhookRow(row)); err != nil {
			return nil, err
		}
	}
	return webhooks, nil
}

// UpdateWebhook implements storage.Webhooks.
func (t tx) UpdateWebhook(ctx context.Context, webhook storage.Webhook) error {
	document, err := storage.ToJSON("webhook configuration", webhook.Settings)
	if err != nil {
		return err
	}
	err = t.Queries.UpdateWebhook(ctx, queries.UpdateWebhookParams{
		ID: webhook.ID, Document: document, Secrets: webhook.Secrets, Generation: webhook.Generation,
	})
	if err != nil {
		return failure(ctx, "change a webhook configuration", err)
	}
	return t.UpdateWebhookHealth(ctx, webhook.ID, webhook.Health)
}

// UpdateWebhookHealth implements storage.Webhooks.
func (t tx) UpdateWebhookHealth(ctx context.Context, id string, health events.Health) error {
	err := t.Queries.UpdateWebhookHealth(ctx, queries.UpdateWebhookHealthParams{
		ID: id, Disabled: health.Disabled, Failures: int64(health.Failures), ClosedUntil: health.ClosedUntil.Truncate(time.Microsecond),
	})
	if err != nil {
		return failure(ctx, "note how a webhook does", err)
	}
	return nil
}

// DeleteWebhook implements storage.Webhooks.
func (t tx) DeleteWebhook(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeleteWebhook(ctx, id)
	switch {
	case err != nil:
		return failure(ctx, "erase a webhook configuration", err)
	case deleted == 0:
		return storage.ErrNotFound
	}
	return t.ForgetDeliveries(ctx, id)
}

// InsertWebhookAttempts implements storage.Webhooks.
func (t tx) InsertWebhookAttempts(ctx context.Context, attempts []storage.WebhookAttempt) error {
	for id, attempts := range storage.ByWebhook(attempts) {
		known, err := t.AddWebhookAttempts(ctx, queries.AddWebhookAttemptsParams{ID: id, Added: int64(len(attempts))})
		if err != nil {
			return failure(ctx, "count attempts of a webhook", err)
		}
		if known == 0 {
			continue
		}
		if err := t.insertAttempts(ctx, attempts); err != nil {
			return failure(ctx, "keep attempts of a webhook", err)
		}
	}
	return nil
}

// insertAttempts keeps attempts in one statement.
func (t tx) insertAttempts(ctx context.Context, attempts []storage.WebhookAttempt) error {
	var rows queries.InsertWebhookAttemptsParams
	for _, attempt := range attempts {
		document, err := storage.ToJSON("attempt of a webhook", attempt)
		if err != nil {
			return err
		}
		rows.Ids = append(rows.Ids, attempt.ID)
		rows.WebhookIds = append(rows.WebhookIds, attempt.WebhookID)
		rows.Times = append(rows.Times, attempt.At.Truncate(time.Microsecond))
		rows.Documents = append(rows.Documents, document)
	}
	return t.Queries.InsertWebhookAttempts(ctx, rows)
}

func attemptOf(row queries.WebhookAttemptRow) (storage.WebhookAttempt, error) {
	attempts, err := storage.FromJSON[storage.WebhookAttempt]("attempt of a webhook", row.Document)
	if err != nil {
		return storage.WebhookAttempt{}, err
	}
	attempt := attempts[0]
	attempt.ID, attempt.WebhookID, attempt.At = row.ID, row.WebhookID, row.At.UTC()
	return attempt, nil
}

// WebhookAttempt implements storage.Webhooks.
func (t tx) WebhookAttempt(ctx context.Context, webhookID, id string) (storage.WebhookAttempt, error) {
	row, err := t.Queries.WebhookAttempt(ctx, queries.WebhookAttemptParams{ID: id, WebhookID: webhookID})
	if err != nil {
		return storage.WebhookAttempt{}, found(ctx, "read an attempt of a webhook", err)
	}
	return attemptOf(row)
}

// WebhookAttempts implements storage.Webhooks.
func (t tx) WebhookAttempts(ctx context.Context, webhookID string, skipped, atMost int64) ([]storage.WebhookAttempt, int64, error) {
	total, err := t.CountWebhookAttempts(ctx, webhookID)
	if err != nil {
		return nil, 0, found(ctx, "count attempts of a webhook", err)
	}
	rows, err := t.Queries.WebhookAttempts(ctx, queries.WebhookAttemptsParams{WebhookID: webhookID, Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, failure(ctx, "read attempts of a webhook", err)
	}
	page := make([]storage.WebhookAttempt, len(rows))
	for i, row := range rows {
		if page[i], err = attemptOf(queries.WebhookAttemptRow(row)); err != nil {
			return nil, 0, err
		}
	}
	return page, total, nil
}

// DeleteWebhookAttempts implements storage.Webhooks.
func (t tx) DeleteWebhookAttempts(ctx context.Context, before time.Time, atMost int64) (int64, error) {
	rows, err := t.OldWebhookAttempts(ctx, queries.OldWebhookAttemptsParams{Before: before.Truncate(time.Microsecond), AtMost: atMost})
	if err != nil {
		return 0, failure(ctx, "look for old attempts of webhooks", err)
	}
	gone := map[string]int64{}
	for _, row := range rows {
		deleted, err := t.DeleteWebhookAttempt(ctx, row.ID)
		if err != nil {
			return 0, failure(ctx, "erase an old attempt of a webhook", err)
		}
		gone[row.WebhookID] += deleted // none, where another replica was faster
	}
	for _, id := range slices.Sorted(maps.Keys(gone)) {
		if _, err := t.AddWebhookAttempts(ctx, queries.AddWebhookAttemptsParams{ID: id, Added: -gone[id]}); err != nil {
			return 0, failure(ctx, "count attempts of a webhook", err)
		}
	}
	return int64(len(rows)), nil
}
