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

// Jobs are the jobs of an outbox, as seen by one transaction.
type Jobs interface {
	// InsertDeliveries inserts delivery jobs.
	InsertDeliveries(ctx context.Context, deliveries []Delivery) error
	// ScheduleNotification inserts a notification job. It does nothing if a job for the same
	// survey and time exists.
	ScheduleNotification(ctx context.Context, notification Notification) error
	// DeleteDeliveries deletes the pending deliveries to a receiver.
	DeleteDeliveries(ctx context.Context, receiver string) error
}

// WithTx returns the jobs as seen by a transaction.
func (i *Inserter[Tx]) WithTx(tx Tx) Jobs { return txJobs[Tx]{i.client, tx} }

// txJobs implements Jobs.
type txJobs[Tx any] struct {
	client *river.Client[Tx]
	tx     Tx
}

func (j txJobs[Tx]) InsertDeliveries(ctx context.Context, deliveries []Delivery) error {
	jobs := make([]river.InsertManyParams, len(deliveries))
	for n, delivery := range deliveries {
		jobs[n] = river.InsertManyParams{Args: delivery, InsertOpts: &river.InsertOpts{
			Queue: queueName(delivery.ReceiverID), MaxAttempts: event.MaxAttempts(),
		}}
	}
	_, err := j.client.InsertManyTx(ctx, j.tx, jobs)
	return err
}

func (j txJobs[Tx]) ScheduleNotification(ctx context.Context, notification Notification) error {
	notification.DueAt = notification.DueAt.UTC().Truncate(time.Microsecond)
	_, err := j.client.InsertTx(ctx, j.tx, notification, &river.InsertOpts{
		Queue: notificationQueue, MaxAttempts: maxNotificationAttempts, ScheduledAt: notification.DueAt,
	})
	return err
}

func (j txJobs[Tx]) DeleteDeliveries(ctx context.Context, receiver string) error {
	const batchSize = 10_000 // River's limit per call
	for {
		deleted, err := j.client.JobDeleteManyTx(ctx, j.tx, river.NewJobDeleteManyParams().Queues(queueName(receiver)).First(batchSize))
		if err != nil || len(deleted.Jobs) < batchSize {
			return err
		}
	}
}
