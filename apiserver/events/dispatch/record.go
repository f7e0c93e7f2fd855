// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// made is an attempt with how it went.
type made struct {
	attempt storage.WebhookAttempt
	result  events.Result
}

const (
	// mostBatched is how many attempts are written down at a time, and mostUnwritten how
	// many may wait for that before nothing more is sent.
	mostBatched, mostUnwritten = 200, 1000
	// gatherFor is how long attempts are gathered before they are written down.
	gatherFor = 20 * time.Millisecond
	// rewriteAfter is the pause before they are tried to be written down again.
	rewriteAfter = time.Second
)

// keepRecord writes attempts down, several in one transaction, until there come no more.
// Those of the last moment are lost where the server is killed.
func (d *Dispatcher) keepRecord(ctx context.Context) {
	for first := range d.made {
		batch := d.gather(first)
		for {
			err := d.write(ctx, batch)
			if err == nil || ctx.Err() != nil {
				break
			}
			d.fault.note(d.Log, err)
			pause(ctx, rewriteAfter)
		}
	}
}

// gather takes what comes soon after an attempt.
func (d *Dispatcher) gather(first made) []made {
	batch := []made{first}
	timer := time.NewTimer(gatherFor)
	defer timer.Stop()
	for len(batch) < mostBatched {
		select {
		case next, more := <-d.made:
			if !more {
				return batch
			}
			batch = append(batch, next)
		case <-timer.C:
			return batch
		}
	}
	return batch
}

// write writes attempts down, and how their receivers do after them.
func (d *Dispatcher) write(ctx context.Context, batch []made) error {
	attempts := make([]storage.WebhookAttempt, len(batch))
	results := make(map[string]events.Result, len(batch))
	for i, m := range batch {
		attempts[i], results[m.attempt.ID] = m.attempt, m.result
	}
	var health map[string]events.Health
	err := d.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		health = map[string]events.Health{}
		for id, attempts := range storage.ByWebhook(attempts) {
			is, err := d.writeOf(ctx, tx, id, attempts, results)
			switch {
			case errors.Is(err, storage.ErrNotFound): // it is gone, and who it was does not matter
			case err != nil:
				return err
			default:
				health[id] = is
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write down %d attempts to tell receivers: %w", len(batch), err)
	}
	d.receivers.note(health)
	for _, is := range health {
		if is.Status() != events.Active {
			d.Wake()
		}
	}
	return nil
}

// writeOf writes down the attempts of one receiver, and is how that does after them.
func (d *Dispatcher) writeOf(ctx context.Context, tx storage.Tx, id string, attempts []storage.WebhookAttempt, results map[string]events.Result) (events.Health, error) {
	webhook, err := tx.LockWebhook(ctx, id)
	if err != nil {
		return events.Health{}, err
	}
	is := webhook.Health
	for _, attempt := range attempts {
		is = is.After(results[attempt.ID], attempt.At)
	}
	if is != webhook.Health {
		if err := tx.UpdateWebhookHealth(ctx, id, is); err != nil {
			return events.Health{}, err
		}
	}
	if is.Disabled {
		if err := tx.ForgetDeliveries(ctx, id); err != nil {
			return events.Health{}, err
		}
	}
	return is, tx.InsertWebhookAttempts(ctx, attempts)
}
