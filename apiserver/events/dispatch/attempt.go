// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// untilResting is how long a delivery is put off that begins before it is known
// everywhere that its receiver is left alone: then it waits with all others.
const untilResting = time.Second

// untilKnown is how long a delivery is put off whose receiver cannot be told now.
const untilKnown = 5 * time.Second

// errForgotten says that nobody is told any more.
var errForgotten = errors.New("the webhook configuration is gone or disabled")

// deliver tells a receiver of an event, and says what becomes of the delivery.
func (d *Dispatcher) deliver(ctx context.Context, delivery outbox.Delivery, attempt int) outbox.Outcome {
	to, known := d.receivers.find(delivery.Receiver)
	if !known {
		return d.unknown(ctx, delivery.Receiver)
	}
	sending, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(to.gone, cancel)()
	if to.health.Status() == events.Failing {
		// One tries whether it is back, and the others wait for what comes of that.
		select {
		case to.probe <- struct{}{}:
			defer func() { <-to.probe }()
		case <-sending.Done():
		}
		if to, known = d.receivers.find(delivery.Receiver); !known {
			return d.unknown(ctx, delivery.Receiver)
		}
	}
	if !to.health.Sends(d.Now()) {
		return outbox.Outcome{PostponeFor: untilResting}
	}
	return d.attempt(ctx, sending, to, delivery, attempt)
}

// attempt makes an attempt, and writes it down: that too by which a receiver wants
// nothing any more, which ends what is being sent to it.
func (d *Dispatcher) attempt(ctx, sending context.Context, to receiver, delivery outbox.Delivery, number int) outbox.Outcome {
	at := d.Now()
	result := d.Sender.Send(sending, to.Receiver, delivery.Event)
	switch {
	case errors.Is(result.Err, context.Canceled) && to.gone.Err() != nil:
		return d.unknown(context.WithoutCancel(ctx), delivery.Receiver)
	case errors.Is(result.Err, context.Canceled):
		return outbox.Outcome{Err: context.Canceled}
	}
	d.receivers.went(delivery.Receiver, result, at)
	outcome := outcomeOf(result, number, d.Now(), rand.Float64()) //nolint:gosec // guessing it is of no use
	d.told(ctx, delivery, number, at, result, outcome)
	return outcome
}

// unknown is what becomes of a delivery to a receiver that is not told now: it is
// forgotten where the receiver is gone or wants nothing any more, and else put off, as
// where its secrets cannot be opened for a while.
func (d *Dispatcher) unknown(ctx context.Context, id string) outbox.Outcome {
	limited, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	var kept storage.Webhook
	err := d.Storage.Transact(limited, func(tx storage.Tx) (err error) {
		kept, err = tx.Webhook(limited, id)
		return err
	})
	if errors.Is(err, storage.ErrNotFound) || err == nil && kept.Health.Disabled {
		return outbox.Outcome{Err: errForgotten}
	}
	return outbox.Outcome{PostponeFor: untilKnown}
}

// outcomeOf is what becomes of a delivery after an attempt that went so.
func outcomeOf(result events.Result, attempt int, now time.Time, chance float64) outbox.Outcome {
	outcome := outbox.Outcome{Err: result.Problem()}
	if outcome.Err == nil || result.Gone() {
		return outcome
	}
	if pause, again := events.PauseAfter(attempt, result.RetryAfter, chance); again {
		outcome.RetryAt = now.Add(pause)
	}
	return outcome
}

// told writes an attempt down.
func (d *Dispatcher) told(ctx context.Context, delivery outbox.Delivery, attempt int, at time.Time, result events.Result, outcome outbox.Outcome) {
	kept := storage.WebhookAttempt{
		ID: uuid.NewString(), WebhookID: delivery.Receiver, At: at, Event: delivery.Event,
		Number: attempt, Status: result.Status, NextAt: outcome.RetryAt,
	}
	level, word := slog.LevelInfo, "delivered"
	if outcome.Err != nil {
		kept.Error, level, word = outcome.Err.Error(), slog.LevelWarn, "failed"
		if outcome.RetryAt.IsZero() {
			word = "given_up"
		}
	}
	d.Observer.WebhookAttempt(word)
	d.Log.Log(ctx, level, "webhook "+word, "webhook", delivery.Receiver, "event", string(delivery.Event.Type),
		"event_id", delivery.Event.ID, "attempt", attempt, "status", result.Status, "error", kept.Error,
		"duration", d.Now().Sub(at).Round(time.Millisecond).String())
	select {
	case d.made <- made{kept, result}:
	case <-ctx.Done():
	}
}

// retryAt is when to try again after a try that ended with its process.
func (d *Dispatcher) retryAt(attempt int) time.Time {
	pause, _ := events.PauseAfter(attempt, 0, rand.Float64()) //nolint:gosec // guessing it is of no use
	return d.Now().Add(pause)
}
