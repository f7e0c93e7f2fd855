// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/delivery"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

// receiverSet holds the receivers as of the last load from storage.
type receiverSet struct {
	mu   sync.Mutex
	byID map[string]receiver
}

type receiver struct {
	delivery.Receiver
	health event.ReceiverHealth
	// probe is held by the delivery that probes a failing receiver.
	probe chan struct{}
	// ctx is canceled when the receiver is deleted or disabled.
	ctx    context.Context //nolint:containedctx // bound to the receiver, not to a call
	cancel context.CancelFunc
}

// get returns the receiver with an id, or false if it does not exist or is disabled.
func (r *receiverSet) get(id string) (receiver, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, known := r.byID[id]
	return found, known && !found.health.Disabled
}

// setHealth updates the health of receivers.
func (r *receiverSet) setHealth(health map[string]event.ReceiverHealth) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, current := range health {
		if known, exists := r.byID[id]; exists {
			known.health = current
			r.byID[id] = known
			known.cancelIfDisabled()
		}
	}
}

// applyResult applies the result of an attempt to the cached health. Once the attempt is
// recorded, setHealth replaces that health, which then includes other replicas' attempts.
func (r *receiverSet) applyResult(id string, result event.DeliveryResult, at time.Time) {
	r.mu.Lock()
	health := r.byID[id].health.WithResult(result, at)
	r.mu.Unlock()
	r.setHealth(map[string]event.ReceiverHealth{id: health})
}

// healthByID returns the health of each receiver.
func (r *receiverSet) healthByID() map[string]event.ReceiverHealth {
	r.mu.Lock()
	defer r.mu.Unlock()
	health := make(map[string]event.ReceiverHealth, len(r.byID))
	for id, known := range r.byID {
		health[id] = known.health
	}
	return health
}

// cancelIfDisabled cancels in-flight deliveries to a disabled receiver.
func (r receiver) cancelIfDisabled() {
	if r.health.Disabled {
		r.cancel()
	}
}

// replace replaces all receivers and cancels in-flight deliveries to removed ones.
func (r *receiverSet) replace(known map[string]receiver) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, before := range r.byID {
		after, found := known[id]
		if !found || after.health.Disabled {
			before.cancel()
			continue
		}
		if !before.health.Disabled {
			after.probe, after.ctx, after.cancel = before.probe, before.ctx, before.cancel
			known[id] = after
		}
	}
	for id, after := range known {
		if after.ctx == nil {
			after.probe = make(chan struct{}, 1)
			after.ctx, after.cancel = context.WithCancel(context.Background())
			known[id] = after
		}
		after.cancelIfDisabled()
	}
	r.byID = known
}

// loadReceivers loads the receivers from storage. It skips receivers whose secrets cannot
// be decrypted, and returns an error about the last of them.
func (d *Dispatcher) loadReceivers(ctx context.Context) error {
	var webhooks []event.Webhook
	err := d.Storage.View(ctx, func(tx Reader) (err error) {
		webhooks, err = tx.ListWebhooks(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("loading webhook configurations: %w", err)
	}
	known := make(map[string]receiver, len(webhooks))
	var decryptErr error
	for _, webhook := range webhooks {
		secrets, err := d.DecryptSecrets(webhook)
		if err != nil {
			decryptErr = fmt.Errorf("decrypting secrets of webhook configuration %s: %w", webhook.ID, err)
			continue
		}
		known[webhook.ID] = receiver{Receiver: delivery.Receiver{URL: webhook.Settings.URL, Secrets: secrets}, health: webhook.Health}
	}
	d.receivers.replace(known)
	return decryptErr
}
