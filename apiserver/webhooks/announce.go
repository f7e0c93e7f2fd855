// SPDX-License-Identifier: Apache-2.0

package webhooks

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// Announce puts an event into the outbox, for everybody who subscribed to it. It happens
// if and only if the transaction is committed.
func Announce(ctx context.Context, tx storage.Tx, event events.Event) error {
	webhooks, err := tx.Webhooks(ctx)
	if err != nil {
		return err
	}
	var deliveries []outbox.Delivery
	for _, webhook := range webhooks {
		if !webhook.Health.Disabled && events.Wants(webhook.Settings.Events, event.Type) {
			deliveries = append(deliveries, outbox.Delivery{Receiver: webhook.ID, Event: event})
		}
	}
	return tx.Enqueue(ctx, deliveries)
}

// Finished tells of a survey that is completed.
func Finished(ctx context.Context, tx storage.Tx, survey guidance.Survey) error {
	return Announce(ctx, tx, events.NewSurveyFinished(uuid.NewString(), survey.ID))
}

// Schedule has the notification of a survey given at its date, once, wherever it was to
// be given before. There is none without a date, and none of a survey that is completed.
func Schedule(ctx context.Context, tx storage.Tx, survey guidance.Survey) error {
	if survey.NotificationDate.IsZero() || survey.Status == guidance.Completed {
		return tx.DeleteNotification(ctx, survey.ID)
	}
	return tx.PutNotification(ctx, survey.ID, survey.NotificationDate)
}

// Notify puts the event of a notification that is due into the outbox, unless it was
// moved, given or cancelled, or its survey is completed or expired.
func (r *Register) Notify(ctx context.Context, due outbox.Notification) error {
	return r.Storage.Transact(ctx, func(tx storage.Tx) error {
		taken, err := tx.TakeNotification(ctx, due.SurveyID, due.At)
		if err != nil || !taken {
			return err
		}
		survey, err := tx.Survey(ctx, due.SurveyID)
		if errors.Is(err, storage.ErrNotFound) || err == nil && (survey.Status == guidance.Completed || survey.Expired(r.Now())) {
			return nil
		} else if err != nil {
			return err
		}
		patient, err := tx.Patient(ctx, survey.PatientID)
		if err != nil {
			return err
		}
		return Announce(ctx, tx, events.NewNotification(uuid.NewString(), survey.ID, patient.UserID))
	})
}
