// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

func toWebhook(row queries.WebhookRow) (event.Webhook, error) {
	settings, err := unmarshalDocument[event.WebhookSettings]("webhook configuration", row.Document)
	if err != nil {
		return event.Webhook{}, err
	}
	return event.Webhook{
		ID: row.ID, Settings: settings, EncryptedSecrets: row.Secrets, KeyVersion: row.Generation,
		Health: event.ReceiverHealth{Disabled: row.Disabled, ConsecutiveFailures: int(row.Failures), CircuitOpenUntil: row.ClosedUntil.UTC()},
	}, nil
}

// InsertWebhook implements storage.WebhookStore.
func (t *Tx) InsertWebhook(ctx context.Context, webhook event.Webhook) error {
	document, err := marshalDocument("webhook configuration", webhook.Settings)
	if err != nil {
		return err
	}
	err = t.Queries.InsertWebhook(ctx, queries.InsertWebhookParams{
		ID: webhook.ID, Document: document, Secrets: webhook.EncryptedSecrets, Generation: webhook.KeyVersion,
	})
	if err != nil {
		return t.wrap(ctx, "creating webhook configuration", err)
	}
	return t.UpdateWebhookHealth(ctx, webhook.ID, webhook.Health)
}

// GetWebhook implements storage.WebhookStore.
func (t *Tx) GetWebhook(ctx context.Context, id string) (event.Webhook, error) {
	row, err := t.Webhook(ctx, id)
	if err != nil {
		return event.Webhook{}, t.wrapFound(ctx, "reading webhook configuration", err)
	}
	return toWebhook(row)
}

// LockWebhook implements storage.WebhookStore.
func (t *Tx) LockWebhook(ctx context.Context, id string) (event.Webhook, error) {
	row, err := t.Queries.LockWebhook(ctx, id)
	if err != nil {
		return event.Webhook{}, t.wrapFound(ctx, "reading webhook configuration", err)
	}
	return toWebhook(queries.WebhookRow(row))
}

// ListWebhooks implements storage.WebhookStore.
func (t *Tx) ListWebhooks(ctx context.Context) ([]event.Webhook, error) {
	rows, err := t.Webhooks(ctx)
	if err != nil {
		return nil, t.wrap(ctx, "listing webhook configurations", err)
	}
	webhooks := make([]event.Webhook, len(rows))
	for i, row := range rows {
		if webhooks[i], err = toWebhook(queries.WebhookRow(row)); err != nil {
			return nil, err
		}
	}
	return webhooks, nil
}

// UpdateWebhook implements storage.WebhookStore.
func (t *Tx) UpdateWebhook(ctx context.Context, webhook event.Webhook) error {
	document, err := marshalDocument("webhook configuration", webhook.Settings)
	if err != nil {
		return err
	}
	err = t.Queries.UpdateWebhook(ctx, queries.UpdateWebhookParams{
		ID: webhook.ID, Document: document, Secrets: webhook.EncryptedSecrets, Generation: webhook.KeyVersion,
	})
	if err != nil {
		return t.wrap(ctx, "updating webhook configuration", err)
	}
	return t.UpdateWebhookHealth(ctx, webhook.ID, webhook.Health)
}

// UpdateWebhookHealth implements storage.WebhookStore.
func (t *Tx) UpdateWebhookHealth(ctx context.Context, id string, health event.ReceiverHealth) error {
	err := t.Queries.UpdateWebhookHealth(ctx, queries.UpdateWebhookHealthParams{
		ID: id, Disabled: health.Disabled, Failures: int64(health.ConsecutiveFailures), ClosedUntil: health.CircuitOpenUntil,
	})
	return t.wrap(ctx, "updating webhook health", err)
}

// DeleteWebhook implements storage.WebhookStore.
func (t *Tx) DeleteWebhook(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeleteWebhook(ctx, id)
	if err != nil || deleted == 0 {
		return t.wrapChanged(ctx, "deleting webhook configuration", deleted, err, record.ErrNotFound)
	}
	return t.DeleteDeliveries(ctx, id)
}
