// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/delivery"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// Sender performs a delivery attempt. *delivery.Sender implements it.
type Sender interface {
	Send(ctx context.Context, receiver delivery.Receiver, event event.Event) event.DeliveryResult
}

// Observer receives delivery metrics. It never sees event data.
type Observer interface {
	// WebhookAttempted is called after each attempt with its outcome: delivered, failed or
	// given_up.
	WebhookAttempted(outcome string)
	// OutboxObserved is called with the number of due jobs, the age of the oldest one, and
	// the number of receivers with an open circuit.
	OutboxObserved(due int64, oldest time.Duration, resting int)
}

// Options configures a Dispatcher. All fields are required.
type Options struct {
	Storage Storage
	Queue   Queue
	Sender  Sender
	// DecryptSecrets decrypts the secrets of a webhook.
	DecryptSecrets func(event.Webhook) (event.Secrets, error)
	// PublishNotification enqueues the deliveries of a due notification.
	PublishNotification func(ctx context.Context, notification outbox.Notification) error
	// Retention returns how long attempts are kept.
	Retention func() time.Duration
	Now       func() time.Time
	Observer  Observer
	Log       *slog.Logger // one line per attempt; failures are logged when they start
}

// Dispatcher delivers events to receivers while Run is running.
type Dispatcher struct {
	Options
	receivers receiverSet
	attempts  chan attemptResult
	wake      chan struct{}
	errorLog  errorLog
	// The fields below are owned by Run.
	client       outbox.Client   // nil while the outbox is idle
	activeQueues map[string]bool // false for a receiver whose circuit is open
	lastPurge    time.Time       // when expired attempts were last deleted
}

// New returns a Dispatcher.
func New(options Options) *Dispatcher {
	return &Dispatcher{
		Options: options, attempts: make(chan attemptResult, maxPendingAttempts), wake: make(chan struct{}, 1), activeQueues: map[string]bool{},
	}
}

// Wake triggers a reconcile because the set of receivers changed.
func (d *Dispatcher) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

const (
	// shutdownTimeout is how long in-flight deliveries may take during shutdown. Canceled
	// deliveries are retried later.
	shutdownTimeout = 5 * time.Second
	// errorBackoff is the delay after a failed reconcile.
	errorBackoff = 3 * time.Second
)

// Run delivers events until ctx is done. Before it returns, it waits for in-flight
// deliveries and for their attempts to be recorded.
func (d *Dispatcher) Run(ctx context.Context) {
	lasting, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	var writing sync.WaitGroup
	writing.Go(func() { d.writeAttempts(lasting) })
	for ctx.Err() == nil {
		d.wait(ctx, d.reconcile(ctx))
	}
	limited, cancel := context.WithTimeout(lasting, shutdownTimeout)
	defer cancel()
	d.errorLog.log(d.Log, d.stopClient(limited))
	close(d.attempts)
	defer time.AfterFunc(shutdownTimeout, giveUp).Stop() // in case storage is down
	writing.Wait()
}

// reconcile loads the current state, applies a plan, and returns when to reconcile next.
func (d *Dispatcher) reconcile(ctx context.Context) (look time.Time) {
	err := d.loadReceivers(ctx)
	waiting, askErr := d.Queue.QueueStats(ctx)
	if err = errors.Join(err, askErr); askErr != nil {
		d.logError(ctx, err)
		return d.Now().Add(errorBackoff)
	}
	now, health := d.Now(), d.receivers.healthByID()
	p := newPlan(planInput{now: now, receivers: health, queues: waiting, shared: d.Queue.Enqueued() == nil})
	d.Observer.OutboxObserved(outboxStats(now, health, waiting))
	err = errors.Join(err, d.applyPlan(ctx, p), d.purge(ctx))
	d.logError(ctx, err)
	if err != nil {
		return earlierOf(p.nextPoll, now.Add(errorBackoff))
	}
	return p.nextPoll
}

func (d *Dispatcher) logError(ctx context.Context, err error) {
	if ctx.Err() == nil && !errors.Is(err, record.ErrNotOpen) { // the storage opener reports ErrNotOpen
		d.errorLog.log(d.Log, err)
	}
}

func earlierOf(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// wait blocks until the next reconcile is due or Wake is called.
func (d *Dispatcher) wait(ctx context.Context, look time.Time) {
	timer := time.NewTimer(look.Sub(d.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-d.wake:
	case <-d.Queue.Enqueued():
	}
}

// applyPlan starts, stops and updates the outbox client as planned.
func (d *Dispatcher) applyPlan(ctx context.Context, p plan) error {
	if !p.active {
		return d.stopClient(ctx)
	}
	if d.client == nil {
		client, err := d.Queue.NewOutboxClient(ctx, outbox.Handlers{Deliver: d.deliver, Notify: d.PublishNotification, RetryAt: d.retryAt}, d.Log)
		if err != nil {
			return err
		}
		if err := client.Start(ctx); err != nil {
			return err
		}
		d.client = client
	}
	return d.syncQueues(ctx, p.receivers)
}

// syncQueues makes the client serve exactly the planned receivers.
func (d *Dispatcher) syncQueues(ctx context.Context, wanted map[string]bool) error {
	var failed error
	for id := range d.activeQueues {
		if _, stays := wanted[id]; !stays { // its deliveries were canceled
			failed = errors.Join(failed, d.client.RemoveReceiver(ctx, id))
			delete(d.activeQueues, id)
		}
	}
	for id, sends := range wanted {
		failed = errors.Join(failed, d.syncQueue(ctx, id, sends))
	}
	return failed
}

// syncQueue serves a receiver, or pauses its queue while the circuit is open.
func (d *Dispatcher) syncQueue(ctx context.Context, id string, sends bool) error {
	before, served := d.activeQueues[id]
	if served && before == sends {
		return nil
	}
	if !served {
		if err := d.client.AddReceiver(id, maxConcurrentDeliveries); err != nil {
			return err
		}
	}
	turn := d.client.PauseReceiver
	if sends {
		turn = d.client.ResumeReceiver
	}
	if err := turn(ctx, id); err != nil {
		return err
	}
	d.activeQueues[id] = sends
	return nil
}

// stopClient stops the outbox client.
func (d *Dispatcher) stopClient(ctx context.Context) error {
	if d.client == nil {
		return nil
	}
	err := d.client.Stop(ctx)
	d.client = nil
	clear(d.activeQueues)
	return err
}

// outboxStats returns the values for Observer.OutboxObserved.
func outboxStats(now time.Time, receivers map[string]event.ReceiverHealth, waiting []outbox.QueueStats) (due int64, oldest time.Duration, resting int) {
	for _, queue := range waiting {
		if since := now.Sub(queue.NextDueAt); since >= 0 && queue.Jobs > queue.Running {
			due += queue.Jobs
			oldest = max(oldest, since)
		}
	}
	for _, health := range receivers {
		if health.Status() == event.StatusFailing {
			resting++
		}
	}
	return due, oldest, resting
}

// sleep blocks for a duration or until ctx is done.
func sleep(ctx context.Context, howLong time.Duration) {
	timer := time.NewTimer(howLong)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
