// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"errors"

	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// circuitOpenSnooze delays a delivery that starts just after its receiver's circuit
// opened, until every replica has paused the receiver's queue.
const circuitOpenSnooze = time.Second

// unavailableSnooze delays a delivery whose receiver is temporarily unavailable.
const unavailableSnooze = 5 * time.Second

// errReceiverGone indicates that a delivery was dropped because the webhook was deleted or disabled.
var errReceiverGone = errors.New("webhook configuration was deleted or disabled")

// deliver sends an event to its receiver and returns the outcome for the outbox.
func (d *Dispatcher) deliver(ctx context.Context, delivery outbox.Delivery, attempt int) outbox.Outcome {
	target, known := d.receivers.get(delivery.ReceiverID)
	if !known {
		return d.handleUnavailable(ctx, delivery.ReceiverID)
	}
	sending, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(target.ctx, cancel)()
	if target.health.Status() == event.StatusFailing {
		// While a receiver is failing, a single delivery probes it and the others wait for the
		// result.
		select {
		case target.probe <- struct{}{}:
			defer func() { <-target.probe }()
		case <-sending.Done():
		}
		if target, known = d.receivers.get(delivery.ReceiverID); !known {
			return d.handleUnavailable(ctx, delivery.ReceiverID)
		}
	}
	if !target.health.CanSend(d.Now()) {
		return outbox.Outcome{SnoozeFor: circuitOpenSnooze}
	}
	return d.attempt(ctx, sending, target, delivery, attempt)
}

// attempt performs an attempt and records it. If the receiver responds with 410, attempt
// also cancels the receiver's deliveries in flight.
func (d *Dispatcher) attempt(ctx, sending context.Context, target receiver, delivery outbox.Delivery, number int) outbox.Outcome {
	at := d.Now()
	result := d.Sender.Send(sending, target.Receiver, delivery.Event)
	switch {
	case errors.Is(result.Err, context.Canceled) && target.ctx.Err() != nil:
		return d.handleUnavailable(context.WithoutCancel(ctx), delivery.ReceiverID)
	case errors.Is(result.Err, context.Canceled):
		return outbox.Outcome{Err: context.Canceled}
	}
	d.receivers.applyResult(delivery.ReceiverID, result, at)
	outcome := newOutcome(result, number, d.Now(), rand.Float64()) //nolint:gosec // not security-sensitive
	d.recordAttempt(ctx, delivery, number, at, result, outcome)
	return outcome
}

// handleUnavailable returns the outcome of a delivery whose receiver is unavailable. It
// drops the delivery if the webhook was deleted or disabled, and snoozes it otherwise,
// for example while the secrets cannot be decrypted.
func (d *Dispatcher) handleUnavailable(ctx context.Context, id string) outbox.Outcome {
	limited, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	var webhook event.Webhook
	err := d.Storage.View(limited, func(tx Reader) (err error) {
		webhook, err = tx.GetWebhook(limited, id)
		return err
	})
	if errors.Is(err, record.ErrNotFound) || err == nil && webhook.Health.Disabled {
		return outbox.Outcome{Err: errReceiverGone}
	}
	return outbox.Outcome{SnoozeFor: unavailableSnooze}
}

// newOutcome returns the outcome of a delivery after an attempt with the given result.
func newOutcome(result event.DeliveryResult, attempt int, now time.Time, jitter float64) outbox.Outcome {
	outcome := outbox.Outcome{Err: result.AsError()}
	if outcome.Err == nil || result.IsGone() {
		return outcome
	}
	if delay, retry := event.RetryDelay(attempt, result.RetryAfter, jitter); retry {
		outcome.RetryAt = now.Add(delay)
	}
	return outcome
}

// recordAttempt queues an attempt to be written to storage.
func (d *Dispatcher) recordAttempt(ctx context.Context, delivery outbox.Delivery, attempt int, at time.Time, result event.DeliveryResult, outcome outbox.Outcome) {
	stored := event.Attempt{
		ID: uuid.NewString(), WebhookID: delivery.ReceiverID, At: at, Event: delivery.Event,
		Number: attempt, StatusCode: result.StatusCode, NextAttemptAt: outcome.RetryAt,
	}
	if outcome.Err != nil {
		stored.Error = outcome.Err.Error()
	}
	log := d.Log.With("webhook", delivery.ReceiverID, "event", string(delivery.Event.Type),
		"eventId", delivery.Event.ID, "attempt", attempt, "status", result.StatusCode, "error", stored.Error,
		"duration", d.Now().Sub(at).Round(time.Millisecond).String())
	switch {
	case outcome.Err == nil:
		d.Observer.WebhookAttempted("delivered")
		log.InfoContext(ctx, "delivered webhook event")
	case outcome.RetryAt.IsZero():
		d.Observer.WebhookAttempted("given_up")
		log.WarnContext(ctx, "failed to deliver webhook event; giving up")
	default:
		d.Observer.WebhookAttempted("failed")
		log.WarnContext(ctx, "failed to deliver webhook event; retrying later")
	}
	select {
	case d.attempts <- attemptResult{stored, result}:
	case <-ctx.Done():
	}
}

// retryAt returns the time at which to retry an attempt whose process was killed.
func (d *Dispatcher) retryAt(attempt int) time.Time {
	delay, _ := event.RetryDelay(attempt, 0, rand.Float64()) //nolint:gosec // not security-sensitive
	return d.Now().Add(delay)
}
