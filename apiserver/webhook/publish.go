// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	apiserverevent "github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// Publish adds an event to the outbox for every subscribed receiver. The event is sent
// if and only if the transaction commits.
func Publish(ctx context.Context, tx PublishTx, event apiserverevent.Event) error {
	webhooks, err := tx.ListWebhooks(ctx)
	if err != nil {
		return err
	}
	var deliveries []outbox.Delivery
	for _, webhook := range webhooks {
		if !webhook.Health.Disabled && apiserverevent.IsSubscribed(webhook.Settings.Events, event.Type) {
			deliveries = append(deliveries, outbox.Delivery{ReceiverID: webhook.ID, Event: event})
		}
	}
	return tx.EnqueueDeliveries(ctx, deliveries)
}

// PublishSurveyFinished publishes the event for a completed survey.
func PublishSurveyFinished(ctx context.Context, tx PublishTx, survey record.Survey) error {
	return Publish(ctx, tx, apiserverevent.NewSurveyFinished(uuid.NewString(), survey.ID))
}

// ScheduleNotification schedules the notification of a survey at its notification date,
// exactly once, replacing any earlier schedule. It does nothing for surveys without a
// date and for completed surveys.
func ScheduleNotification(ctx context.Context, tx PublishTx, survey record.Survey) error {
	if survey.NotificationDate.IsZero() || survey.Status == record.StatusCompleted {
		return tx.DeleteNotification(ctx, survey.ID)
	}
	return tx.ScheduleNotification(ctx, survey.ID, survey.NotificationDate)
}

// PublishNotification publishes the event for a due notification, unless the notification
// was moved, sent or canceled, or its survey is completed or expired.
func (s *Service) PublishNotification(ctx context.Context, due outbox.Notification) error {
	return s.Storage.Transact(ctx, func(tx Tx) error {
		claimed, err := tx.ClaimNotification(ctx, due.SurveyID, due.DueAt)
		if err != nil || !claimed {
			return err
		}
		survey, err := tx.GetSurvey(ctx, due.SurveyID)
		if errors.Is(err, record.ErrNotFound) || err == nil && (survey.Status == record.StatusCompleted || survey.Expired(s.Now())) {
			return nil
		} else if err != nil {
			return err
		}
		patient, err := tx.GetPatient(ctx, survey.PatientID)
		if err != nil {
			return err
		}
		return Publish(ctx, tx, apiserverevent.NewNotification(uuid.NewString(), survey.ID, patient.UserID))
	})
}
