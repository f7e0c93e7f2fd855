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
	OutboxObserved(due int64, oldest time.Duration, openCircuits int)
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
	Log       *slog.Logger // logs each attempt, and other errors when they first occur
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
	background, cancelBackground := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelBackground()
	var writing sync.WaitGroup
	writing.Go(func() { d.writeAttempts(background) })
	for ctx.Err() == nil {
		d.wait(ctx, d.reconcile(ctx))
	}
	limited, cancel := context.WithTimeout(background, shutdownTimeout)
	defer cancel()
	d.errorLog.log(d.Log, d.stopClient(limited))
	close(d.attempts)
	defer time.AfterFunc(shutdownTimeout, cancelBackground).Stop() // in case storage is down
	writing.Wait()
}

// reconcile loads the current state, applies a plan, and returns the time of the next
// reconcile.
func (d *Dispatcher) reconcile(ctx context.Context) (next time.Time) {
	err := d.loadReceivers(ctx)
	queues, statsErr := d.Queue.QueueStats(ctx)
	if err = errors.Join(err, statsErr); statsErr != nil {
		d.logError(ctx, err)
		return d.Now().Add(errorBackoff)
	}
	now, health := d.Now(), d.receivers.healthByID()
	p := newPlan(planInput{now: now, receivers: health, queues: queues, shared: d.Queue.Enqueued() == nil})
	d.Observer.OutboxObserved(outboxStats(now, health, queues))
	err = errors.Join(err, d.applyPlan(ctx, p), d.purge(ctx))
	d.logError(ctx, err)
	if err != nil {
		return earlier(p.nextPoll, now.Add(errorBackoff))
	}
	return p.nextPoll
}

func (d *Dispatcher) logError(ctx context.Context, err error) {
	if ctx.Err() == nil && !errors.Is(err, record.ErrNotOpen) { // the storage opener reports ErrNotOpen
		d.errorLog.log(d.Log, err)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// wait blocks until the next reconcile is due or Wake is called.
func (d *Dispatcher) wait(ctx context.Context, next time.Time) {
	timer := time.NewTimer(next.Sub(d.Now()))
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
func (d *Dispatcher) syncQueues(ctx context.Context, receivers map[string]bool) error {
	var errs error
	for id := range d.activeQueues {
		if _, planned := receivers[id]; !planned { // its deliveries were canceled
			errs = errors.Join(errs, d.client.RemoveReceiver(ctx, id))
			delete(d.activeQueues, id)
		}
	}
	for id, active := range receivers {
		errs = errors.Join(errs, d.syncQueue(ctx, id, active))
	}
	return errs
}

// syncQueue serves a receiver, or pauses its queue while the circuit is open.
func (d *Dispatcher) syncQueue(ctx context.Context, id string, active bool) error {
	before, served := d.activeQueues[id]
	if served && before == active {
		return nil
	}
	if !served {
		if err := d.client.AddReceiver(id, maxConcurrentDeliveries); err != nil {
			return err
		}
	}
	update := d.client.PauseReceiver
	if active {
		update = d.client.ResumeReceiver
	}
	if err := update(ctx, id); err != nil {
		return err
	}
	d.activeQueues[id] = active
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
func outboxStats(now time.Time, receivers map[string]event.ReceiverHealth, queues []outbox.QueueStats) (due int64, oldest time.Duration, openCircuits int) {
	for _, queue := range queues {
		if since := now.Sub(queue.NextDueAt); since >= 0 && queue.Jobs > queue.Running {
			due += queue.Jobs
			oldest = max(oldest, since)
		}
	}
	for _, health := range receivers {
		if health.Status() == event.StatusFailing {
			openCircuits++
		}
	}
	return due, oldest, openCircuits
}

// sleep blocks for a duration or until ctx is done.
func sleep(ctx context.Context, duration time.Duration) {
	timer := time.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
