// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/deliver"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// receivers are who is told, as storage had them at the last look.
type receivers struct {
	mu    sync.Mutex
	known map[string]receiver
}

type receiver struct {
	deliver.Receiver
	health events.Health
	// probe is held by who tries whether a receiver that failed is back.
	probe chan struct{}
	// gone ends when the receiver is told nothing any more.
	gone   context.Context //nolint:containedctx // it is about the receiver, and not about a call
	forget context.CancelFunc
}

// find is the receiver with an id, if it is told of anything.
func (r *receivers) find(id string) (receiver, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, known := r.known[id]
	return found, known && !found.health.Disabled
}

// note remembers how receivers do.
func (r *receivers) note(health map[string]events.Health) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, is := range health {
		if known, there := r.known[id]; there {
			known.health = is
			r.known[id] = known
			known.forgetIfDisabled()
		}
	}
}

// went remembers how an attempt went, until it is written down, after what others saw.
func (r *receivers) went(id string, result events.Result, at time.Time) {
	r.mu.Lock()
	is := r.known[id].health.After(result, at)
	r.mu.Unlock()
	r.note(map[string]events.Health{id: is})
}

// health is how each does.
func (r *receivers) health() map[string]events.Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	health := make(map[string]events.Health, len(r.known))
	for id, known := range r.known {
		health[id] = known.health
	}
	return health
}

// forgetIfDisabled breaks off what goes to a receiver that wants nothing any more.
func (r receiver) forgetIfDisabled() {
	if r.health.Disabled {
		r.forget()
	}
}

// replace puts receivers in the place of those before, and breaks off what goes to those
// that are no more.
func (r *receivers) replace(known map[string]receiver) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, before := range r.known {
		after, stays := known[id]
		if !stays || after.health.Disabled {
			before.forget()
			continue
		}
		if !before.health.Disabled {
			after.probe, after.gone, after.forget = before.probe, before.gone, before.forget
			known[id] = after
		}
	}
	for id, after := range known {
		if after.gone == nil {
			after.probe = make(chan struct{}, 1)
			after.gone, after.forget = context.WithCancel(context.Background())
			known[id] = after
		}
		after.forgetIfDisabled()
	}
	r.known = known
}

// read asks storage who is told. One whose secrets cannot be opened is told nothing, and
// the error says so.
func (d *Dispatcher) read(ctx context.Context) error {
	var webhooks []storage.Webhook
	err := d.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		webhooks, err = tx.Webhooks(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("read who is told of events: %w", err)
	}
	known := make(map[string]receiver, len(webhooks))
	var failed error
	for _, webhook := range webhooks {
		secrets, err := d.Open(webhook)
		if err != nil {
			failed = fmt.Errorf("open the secrets of the webhook configuration %s: %w", webhook.ID, err)
			continue
		}
		known[webhook.ID] = receiver{Receiver: deliver.Receiver{URL: webhook.Settings.URL, Secrets: secrets}, health: webhook.Health}
	}
	d.receivers.replace(known)
	return failed
}
