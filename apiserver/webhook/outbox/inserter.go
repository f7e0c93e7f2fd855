// SPDX-License-Identifier: Apache-2.0

package outbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"

	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

// Inserter inserts jobs in transactions of its driver.
type Inserter[Tx any] struct{ client *river.Client[Tx] }

// NewInserter returns an Inserter for the database of a driver. It starts no goroutines.
func NewInserter[Tx any](driver riverdriver.Driver[Tx]) (*Inserter[Tx], error) {
	client, err := river.NewClient(driver, &river.Config{
		Logger: slog.New(slog.DiscardHandler),
		// Notify workers of every job, including jobs in quick succession.
		FetchCooldown: river.FetchCooldownMin,
	})
	return &Inserter[Tx]{client}, err
}

// InsertDeliveries inserts delivery jobs.
func (i *Inserter[Tx]) InsertDeliveries(ctx context.Context, tx Tx, deliveries []Delivery) error {
	jobs := make([]river.InsertManyParams, len(deliveries))
	for n, delivery := range deliveries {
		jobs[n] = river.InsertManyParams{Args: delivery, InsertOpts: &river.InsertOpts{
			Queue: queueName(delivery.ReceiverID), MaxAttempts: event.MaxAttempts(),
		}}
	}
	_, err := i.client.InsertManyTx(ctx, tx, jobs)
	return err
}

// ScheduleNotification inserts a notification job. It does nothing if a job for the same
// survey and time exists.
func (i *Inserter[Tx]) ScheduleNotification(ctx context.Context, tx Tx, notification Notification) error {
	notification.DueAt = notification.DueAt.UTC().Truncate(time.Microsecond)
	_, err := i.client.InsertTx(ctx, tx, notification, &river.InsertOpts{
		Queue: notificationQueue, MaxAttempts: maxNotificationAttempts, ScheduledAt: notification.DueAt,
	})
	return err
}

// DeleteDeliveries deletes the pending deliveries to a receiver.
func (i *Inserter[Tx]) DeleteDeliveries(ctx context.Context, tx Tx, receiver string) error {
	const atOnce = 10_000 // River's limit per call
	for {
		deleted, err := i.client.JobDeleteManyTx(ctx, tx, river.NewJobDeleteManyParams().Queues(queueName(receiver)).First(atOnce))
		if err != nil || len(deleted.Jobs) < atOnce {
			return err
		}
	}
}
