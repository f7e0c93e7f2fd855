// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/identifier"
	apiserverevent "github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// ListAttempts returns a page of the delivery attempts for a webhook, newest first, and
// the total count.
func (s *Service) ListAttempts(ctx context.Context, id string, page record.Page) (attempts []apiserverevent.Attempt, total int64, err error) {
	if !identifier.IsUUID(id) {
		return nil, 0, record.ErrNotFound
	}
	err = s.Storage.View(ctx, func(tx Reader) (err error) {
		attempts, total, err = tx.ListWebhookAttempts(ctx, id, page.Offset, page.Limit)
		return err
	})
	return attempts, total, err
}

// Redeliver enqueues the event of an earlier attempt again and returns it.
func (s *Service) Redeliver(ctx context.Context, by audit.Actor, id, attemptID string) (event apiserverevent.Event, err error) {
	if !identifier.IsUUID(attemptID) {
		return apiserverevent.Event{}, record.ErrNotFound
	}
	err = s.enqueueEvent(ctx, by, id, func(tx Tx) (apiserverevent.Event, error) {
		attempt, err := tx.GetWebhookAttempt(ctx, id, attemptID)
		event = attempt.Event
		return event, err
	})
	return event, err
}

// SendPing enqueues a ping event for one receiver and returns it.
func (s *Service) SendPing(ctx context.Context, by audit.Actor, id string) (apiserverevent.Event, error) {
	event := apiserverevent.NewPing(uuid.NewString())
	return event, s.enqueueEvent(ctx, by, id, func(Tx) (apiserverevent.Event, error) { return event, nil })
}

// enqueueEvent adds an event to the outbox for one receiver.
func (s *Service) enqueueEvent(ctx context.Context, by audit.Actor, id string, loadEvent func(Tx) (apiserverevent.Event, error)) error {
	if !identifier.IsUUID(id) {
		return record.ErrNotFound
	}
	return s.Storage.Transact(ctx, func(tx Tx) error {
		webhook, err := tx.GetWebhook(ctx, id)
		if err != nil {
			return err
		}
		if webhook.Health.Disabled {
			return ErrDisabled
		}
		event, err := loadEvent(tx)
		if err != nil {
			return err
		}
		if err := tx.EnqueueDeliveries(ctx, []outbox.Delivery{{ReceiverID: id, Event: event}}); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), by, audit.Change, audit.WebhookConfiguration, id))
	})
}
