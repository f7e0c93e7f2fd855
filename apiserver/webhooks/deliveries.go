// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// Deliveries is a part of what was sent to a receiver, the latest first, and how many
// attempts there were.
func (r *Register) Deliveries(ctx context.Context, id string, page Page) (attempts []storage.WebhookAttempt, total int64, err error) {
	if !isID(id) {
		return nil, 0, storage.ErrNotFound
	}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		attempts, total, err = tx.WebhookAttempts(ctx, id, page.Skipped, page.AtMost)
		return err
	})
	return attempts, total, err
}

// Replay sends the event of an attempt once more, and returns it.
func (r *Register) Replay(ctx context.Context, by audit.Actor, id, attemptID string) (event events.Event, err error) {
	if !isID(attemptID) {
		return events.Event{}, storage.ErrNotFound
	}
	err = r.send(ctx, by, id, func(tx storage.Tx) (events.Event, error) {
		attempt, err := tx.WebhookAttempt(ctx, id, attemptID)
		event = attempt.Event
		return event, err
	})
	return event, err
}

// Test sends an event that says nothing, and returns it.
func (r *Register) Test(ctx context.Context, by audit.Actor, id string) (events.Event, error) {
	event := events.NewPing(uuid.NewString())
	return event, r.send(ctx, by, id, func(storage.Tx) (events.Event, error) { return event, nil })
}

// send puts an event into the outbox for one receiver.
func (r *Register) send(ctx context.Context, by audit.Actor, id string, what func(storage.Tx) (events.Event, error)) error {
	if !isID(id) {
		return storage.ErrNotFound
	}
	return r.Storage.Transact(ctx, func(tx storage.Tx) error {
		webhook, err := tx.Webhook(ctx, id)
		if err != nil {
			return err
		}
		if webhook.Health.Disabled {
			return ErrDisabled
		}
		event, err := what(tx)
		if err != nil {
			return err
		}
		if err := tx.Enqueue(ctx, []outbox.Delivery{{Receiver: id, Event: event}}); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Change, id))
	})
}
