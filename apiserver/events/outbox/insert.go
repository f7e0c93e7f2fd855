// SPDX-License-Identifier: Apache-2.0

package outbox

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
)

// An Inserter puts jobs in, in transactions of its driver.
type Inserter[Tx any] struct{ client *river.Client[Tx] }

// NewInserter puts jobs into the database of a driver. Nothing goes on beside that.
func NewInserter[Tx any](driver riverdriver.Driver[Tx]) (*Inserter[Tx], error) {
	client, err := river.NewClient(driver, &river.Config{
		Logger: slog.New(slog.DiscardHandler),
		// Each job wakes who waits for it, also when it comes soon after another.
		FetchCooldown: river.FetchCooldownMin,
	})
	return &Inserter[Tx]{client}, err
}

// Deliver puts deliveries in.
func (i *Inserter[Tx]) Deliver(ctx context.Context, tx Tx, deliveries []Delivery) error {
	jobs := make([]river.InsertManyParams, len(deliveries))
	for n, delivery := range deliveries {
		jobs[n] = river.InsertManyParams{Args: delivery, InsertOpts: &river.InsertOpts{
			Queue: queueOf(delivery.Receiver), MaxAttempts: events.MostAttempts(),
		}}
	}
	_, err := i.client.InsertManyTx(ctx, tx, jobs)
	return err
}

// Schedule puts in a notification. One that was put in before for the same survey and
// time stays alone.
func (i *Inserter[Tx]) Schedule(ctx context.Context, tx Tx, notification Notification) error {
	notification.At = notification.At.UTC().Truncate(time.Microsecond)
	_, err := i.client.InsertTx(ctx, tx, notification, &river.InsertOpts{
		Queue: notifications, MaxAttempts: mostNotifications, ScheduledAt: notification.At,
	})
	return err
}

// Forget takes out what a receiver was still to be told.
func (i *Inserter[Tx]) Forget(ctx context.Context, tx Tx, receiver string) error {
	const atOnce = 10_000 // the most that River deletes at a time
	for {
		deleted, err := i.client.JobDeleteManyTx(ctx, tx, river.NewJobDeleteManyParams().Queues(queueOf(receiver)).First(atOnce))
		if err != nil || len(deleted.Jobs) < atOnce {
			return err
		}
	}
}
