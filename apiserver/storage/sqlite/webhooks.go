// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

func toWebhook(row queries.WebhookRow) (storage.Webhook, error) {
	settings, err := storage.UnmarshalDocuments[storage.WebhookSettings]("webhook configuration", row.Document)
	if err != nil {
		return storage.Webhook{}, err
	}
	return storage.Webhook{
		ID: row.ID, Settings: settings[0], EncryptedSecrets: row.Secrets, KeyVersion: row.Generation,
		Health: event.ReceiverHealth{Disabled: row.Disabled != 0, ConsecutiveFailures: int(row.Failures), CircuitOpenUntil: time.UnixMicro(row.ClosedUntil).UTC()},
	}, nil
}

// InsertWebhook implements storage.WebhookStore.
func (t tx) InsertWebhook(ctx context.Context, webhook storage.Webhook) error {
	document, err := storage.MarshalDocument("webhook configuration", webhook.Settings)
	if err != nil {
		return err
	}
	err = t.Queries.InsertWebhook(ctx, queries.InsertWebhookParams{
		ID: webhook.ID, Document: document, Secrets: webhook.EncryptedSecrets, Generation: webhook.KeyVersion,
	})
	if err != nil {
		return wrapError("creating webhook configuration", err)
	}
	return t.UpdateWebhookHealth(ctx, webhook.ID, webhook.Health)
}

// GetWebhook implements storage.WebhookStore.
func (t tx) GetWebhook(ctx context.Context, id string) (storage.Webhook, error) {
	row, err := t.Webhook(ctx, id)
	if err != nil {
		return storage.Webhook{}, wrapNotFound("reading webhook configuration", err)
	}
	return toWebhook(row)
}

// LockWebhook implements storage.WebhookStore.
func (t tx) LockWebhook(ctx context.Context, id string) (storage.Webhook, error) {
	row, err := t.Queries.LockWebhook(ctx, id)
	if err != nil {
		return storage.Webhook{}, wrapNotFound("reading webhook configuration", err)
	}
	return toWebhook(queries.WebhookRow(row))
}

// ListWebhooks implements storage.WebhookStore.
func (t tx) ListWebhooks(ctx context.Context) ([]storage.Webhook, error) {
	rows, err := t.Webhooks(ctx)
	if err != nil {
		return nil, wrapError("listing webhook configurations", err)
	}
	webhooks := make([]storage.Webhook, len(rows))
	for i, row := range rows {
		if webhooks[i], err = toWebhook(queries.WebhookRow(row)); err != nil {
			return nil, err
		}
	}
	return webhooks, nil
}

// UpdateWebhook implements storage.WebhookStore.
func (t tx) UpdateWebhook(ctx context.Context, webhook storage.Webhook) error {
	document, err := storage.MarshalDocument("webhook configuration", webhook.Settings)
	if err != nil {
		return err
	}
	err = t.Queries.UpdateWebhook(ctx, queries.UpdateWebhookParams{
		ID: webhook.ID, Document: document, Secrets: webhook.EncryptedSecrets, Generation: webhook.KeyVersion,
	})
	if err != nil {
		return wrapError("updating webhook configuration", err)
	}
	return t.UpdateWebhookHealth(ctx, webhook.ID, webhook.Health)
}

// UpdateWebhookHealth implements storage.WebhookStore.
func (t tx) UpdateWebhookHealth(ctx context.Context, id string, health event.ReceiverHealth) error {
	err := t.Queries.UpdateWebhookHealth(ctx, queries.UpdateWebhookHealthParams{
		ID: id, Disabled: boolToInt(health.Disabled), Failures: int64(health.ConsecutiveFailures), ClosedUntil: health.CircuitOpenUntil.UnixMicro(),
	})
	if err != nil {
		return wrapError("updating webhook health", err)
	}
	return nil
}

// DeleteWebhook implements storage.WebhookStore.
func (t tx) DeleteWebhook(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeleteWebhook(ctx, id)
	switch {
	case err != nil:
		return wrapError("deleting webhook configuration", err)
	case deleted == 0:
		return storage.ErrNotFound
	}
	return t.DeleteDeliveries(ctx, id)
}

// InsertWebhookAttempts implements storage.WebhookStore.
func (t tx) InsertWebhookAttempts(ctx context.Context, attempts []storage.WebhookAttempt) error {
	for id, attempts := range storage.GroupByWebhook(attempts) {
		known, err := t.AddWebhookAttempts(ctx, queries.AddWebhookAttemptsParams{ID: id, Added: int64(len(attempts))})
		if err != nil {
			return wrapError("counting webhook attempts", err)
		}
		if known == 0 {
			continue
		}
		if err := t.insertAttempts(ctx, attempts); err != nil {
			return wrapError("storing webhook attempts", err)
		}
	}
	return nil
}

func (t tx) insertAttempts(ctx context.Context, attempts []storage.WebhookAttempt) error {
	for _, attempt := range attempts {
		document, err := storage.MarshalDocument("webhook attempt", attempt)
		if err != nil {
			return err
		}
		err = t.InsertWebhookAttempt(ctx, queries.InsertWebhookAttemptParams{
			ID: attempt.ID, WebhookID: attempt.WebhookID, At: attempt.At.UnixMicro(), Document: document,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func toAttempt(row queries.WebhookAttemptRow) (storage.WebhookAttempt, error) {
	attempts, err := storage.UnmarshalDocuments[storage.WebhookAttempt]("webhook attempt", row.Document)
	if err != nil {
		return storage.WebhookAttempt{}, err
	}
	attempt := attempts[0]
	attempt.ID, attempt.WebhookID, attempt.At = row.ID, row.WebhookID, time.UnixMicro(row.At).UTC()
	return attempt, nil
}

// GetWebhookAttempt implements storage.WebhookStore.
func (t tx) GetWebhookAttempt(ctx context.Context, webhookID, id string) (storage.WebhookAttempt, error) {
	row, err := t.WebhookAttempt(ctx, queries.WebhookAttemptParams{ID: id, WebhookID: webhookID})
	if err != nil {
		return storage.WebhookAttempt{}, wrapNotFound("reading webhook attempt", err)
	}
	return toAttempt(row)
}

// ListWebhookAttempts implements storage.WebhookStore.
func (t tx) ListWebhookAttempts(ctx context.Context, webhookID string, skipped, atMost int64) ([]storage.WebhookAttempt, int64, error) {
	total, err := t.CountWebhookAttempts(ctx, webhookID)
	if err != nil {
		return nil, 0, wrapNotFound("counting webhook attempts", err)
	}
	rows, err := t.WebhookAttempts(ctx, queries.WebhookAttemptsParams{WebhookID: webhookID, Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, wrapError("listing webhook attempts", err)
	}
	page := make([]storage.WebhookAttempt, len(rows))
	for i, row := range rows {
		if page[i], err = toAttempt(queries.WebhookAttemptRow(row)); err != nil {
			return nil, 0, err
		}
	}
	return page, total, nil
}

// DeleteWebhookAttempts implements storage.WebhookStore.
func (t tx) DeleteWebhookAttempts(ctx context.Context, before time.Time, atMost int64) (int64, error) {
	rows, err := t.OldWebhookAttempts(ctx, queries.OldWebhookAttemptsParams{Before: before.UnixMicro(), AtMost: atMost})
	if err != nil {
		return 0, wrapError("listing expired webhook attempts", err)
	}
	gone := map[string]int64{}
	for _, row := range rows {
		deleted, err := t.DeleteWebhookAttempt(ctx, row.ID)
		if err != nil {
			return 0, wrapError("deleting expired webhook attempt", err)
		}
		gone[row.WebhookID] += deleted // zero if another replica deleted them first
	}
	for _, id := range slices.Sorted(maps.Keys(gone)) {
		if _, err := t.AddWebhookAttempts(ctx, queries.AddWebhookAttemptsParams{ID: id, Added: -gone[id]}); err != nil {
			return 0, wrapError("counting webhook attempts", err)
		}
	}
	return int64(len(rows)), nil
}
