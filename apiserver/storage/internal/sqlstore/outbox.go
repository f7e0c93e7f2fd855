// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore/queries"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// EnqueueDeliveries implements storage.Outbox.
func (t *Tx) EnqueueDeliveries(ctx context.Context, deliveries []outbox.Delivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	t.enqueued = true
	return t.wrap(ctx, "enqueuing deliveries", t.driver.InsertDeliveries(ctx, deliveries))
}

// DeleteDeliveries implements storage.Outbox.
func (t *Tx) DeleteDeliveries(ctx context.Context, receiver string) error {
	return t.wrap(ctx, "deleting deliveries from the outbox", t.driver.DeleteDeliveries(ctx, receiver))
}

// ScheduleNotification implements storage.Outbox.
func (t *Tx) ScheduleNotification(ctx context.Context, surveyID string, at time.Time) error {
	at = at.UTC().Truncate(time.Microsecond)
	if err := t.PutNotification(ctx, queries.PutNotificationParams{SurveyID: surveyID, At: at}); err != nil {
		return t.wrap(ctx, "scheduling notification", err)
	}
	t.enqueued = true
	err := t.driver.ScheduleNotification(ctx, outbox.Notification{SurveyID: surveyID, DueAt: at})
	return t.wrap(ctx, "enqueuing notification", err)
}

// DeleteNotification implements storage.Outbox. It keeps the job, which then does nothing.
func (t *Tx) DeleteNotification(ctx context.Context, surveyID string) error {
	return t.wrap(ctx, "unscheduling notification", t.Queries.DeleteNotification(ctx, surveyID))
}

// ClaimNotification implements storage.Outbox.
func (t *Tx) ClaimNotification(ctx context.Context, surveyID string, at time.Time) (bool, error) {
	claimed, err := t.ClaimScheduledNotification(ctx, queries.ClaimScheduledNotificationParams{SurveyID: surveyID, At: at})
	return claimed > 0, t.wrap(ctx, "claiming due notification", err)
}
