// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

// attemptResult is an attempt and its result.
type attemptResult struct {
	attempt event.Attempt
	result  event.DeliveryResult
}

const (
	// maxBatchSize limits the attempts per write. maxPendingAttempts is the number of
	// unwritten attempts at which deliveries block.
	maxBatchSize, maxPendingAttempts = 200, 1000
	// batchWindow is the time during which attempts are collected before a write.
	batchWindow = 20 * time.Millisecond
	// writeRetryDelay is the delay before a failed write is retried.
	writeRetryDelay = time.Second
)

// writeAttempts writes attempts to storage in batches until the channel is closed. If
// the server is killed, the last batch is lost.
func (d *Dispatcher) writeAttempts(ctx context.Context) {
	for first := range d.attempts {
		batch := d.collectBatch(first)
		for {
			err := d.writeBatch(ctx, batch)
			if err == nil || ctx.Err() != nil {
				break
			}
			d.errorLog.log(d.Log, err)
			sleep(ctx, writeRetryDelay)
		}
	}
}

// collectBatch collects the attempts that arrive within batchWindow of the first.
func (d *Dispatcher) collectBatch(first attemptResult) []attemptResult {
	batch := []attemptResult{first}
	timer := time.NewTimer(batchWindow)
	defer timer.Stop()
	for len(batch) < maxBatchSize {
		select {
		case next, open := <-d.attempts:
			if !open {
				return batch
			}
			batch = append(batch, next)
		case <-timer.C:
			return batch
		}
	}
	return batch
}

// writeBatch writes attempts and the resulting health of their receivers.
func (d *Dispatcher) writeBatch(ctx context.Context, batch []attemptResult) error {
	attempts := make([]event.Attempt, len(batch))
	results := make(map[string]event.DeliveryResult, len(batch))
	for i, entry := range batch {
		attempts[i], results[entry.attempt.ID] = entry.attempt, entry.result
	}
	var health map[string]event.ReceiverHealth
	err := d.Storage.Transact(ctx, func(tx Tx) (err error) {
		health = map[string]event.ReceiverHealth{}
		for id, attempts := range event.GroupByWebhook(attempts) {
			current, err := d.writeReceiverAttempts(ctx, tx, id, attempts, results)
			switch {
			case errors.Is(err, record.ErrNotFound): // the webhook was deleted
			case err != nil:
				return err
			default:
				health[id] = current
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("storing %d delivery attempts: %w", len(batch), err)
	}
	d.receivers.setHealth(health)
	for _, current := range health {
		if current.Status() != event.StatusActive {
			d.Wake()
		}
	}
	return nil
}

// writeReceiverAttempts writes the attempts of one receiver and returns its resulting
// health.
func (d *Dispatcher) writeReceiverAttempts(ctx context.Context, tx Tx, id string, attempts []event.Attempt, results map[string]event.DeliveryResult) (event.ReceiverHealth, error) {
	webhook, err := tx.LockWebhook(ctx, id)
	if err != nil {
		return event.ReceiverHealth{}, err
	}
	health := webhook.Health
	for _, attempt := range attempts {
		health = health.WithResult(results[attempt.ID], attempt.At)
	}
	if health != webhook.Health {
		if err := tx.UpdateWebhookHealth(ctx, id, health); err != nil {
			return event.ReceiverHealth{}, err
		}
	}
	if health.Disabled {
		if err := tx.DeleteDeliveries(ctx, id); err != nil {
			return event.ReceiverHealth{}, err
		}
	}
	return health, tx.InsertWebhookAttempts(ctx, attempts)
}
