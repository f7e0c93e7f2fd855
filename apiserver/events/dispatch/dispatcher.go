// SPDX-License-Identifier: Apache-2.0

package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/deliver"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// Storage is what a dispatcher needs of a store; every storage.Store has it.
type Storage interface {
	storage.Transactor
	storage.Jobs
}

// Sender makes one attempt. *deliver.Sender is one.
type Sender interface {
	Send(ctx context.Context, receiver deliver.Receiver, event events.Event) events.Result
}

// An Observer is told how deliveries go, and never of what.
type Observer interface {
	// WebhookAttempt is told of each attempt: delivered, failed or given_up.
	WebhookAttempt(outcome string)
	// OutboxSeen is told how many jobs are due, how long the oldest of them has been, and
	// how many receivers are left alone for a while.
	OutboxSeen(due int64, oldest time.Duration, resting int)
}

// Options are what a dispatcher works with. All of them are required.
type Options struct {
	Storage Storage
	Sender  Sender
	// Open reads the secrets of a configuration.
	Open func(storage.Webhook) (events.Secrets, error)
	// Notify puts in the deliveries of a notification that is due.
	Notify func(ctx context.Context, notification outbox.Notification) error
	// Retention is how long attempts are kept.
	Retention func() time.Duration
	Now       func() time.Time
	Observer  Observer
	Log       *slog.Logger // one line for each attempt, and for faults when they begin
}

// Dispatcher tells receivers of events, while it runs.
type Dispatcher struct {
	Options
	receivers receivers
	made      chan made
	woken     chan struct{}
	fault     fault
	// What follows is Run's alone.
	client  outbox.Client   // nil while nothing is worked
	serving map[string]bool // false for a receiver that is left alone for a while
	purged  time.Time       // when old attempts were last erased
}

// New makes a dispatcher.
func New(options Options) *Dispatcher {
	return &Dispatcher{
		Options: options, made: make(chan made, mostUnwritten), woken: make(chan struct{}, 1), serving: map[string]bool{},
	}
}

// Wake has it look again at once, because who is told changed.
func (d *Dispatcher) Wake() {
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

const (
	// stopTimeout is how long deliveries may go on that are under way when it ends; what
	// is cut off is made again later.
	stopTimeout = 5 * time.Second
	// faultPause is the pause after a look that failed.
	faultPause = 3 * time.Second
)

// Run tells receivers of events until the context ends. It waits for what is under way,
// and for it to be written down.
func (d *Dispatcher) Run(ctx context.Context) {
	lasting, giveUp := context.WithCancel(context.WithoutCancel(ctx))
	defer giveUp()
	var writing sync.WaitGroup
	writing.Go(func() { d.keepRecord(lasting) })
	for ctx.Err() == nil {
		d.wait(ctx, d.turn(ctx))
	}
	limited, cancel := context.WithTimeout(lasting, stopTimeout)
	defer cancel()
	d.fault.note(d.Log, d.sleep(limited))
	close(d.made)
	defer time.AfterFunc(stopTimeout, giveUp).Stop() // where storage is down
	writing.Wait()
}

// turn looks at what there is and does as planned, and says when to look again.
func (d *Dispatcher) turn(ctx context.Context) (look time.Time) {
	err := d.read(ctx)
	waiting, askErr := d.Storage.Waiting(ctx)
	if err = errors.Join(err, askErr); askErr != nil {
		d.noteUnlessEnding(ctx, err)
		return d.Now().Add(faultPause)
	}
	now, health := d.Now(), d.receivers.health()
	p := makePlan(situation{now: now, receivers: health, waiting: waiting, shared: d.Storage.Enqueued() == nil})
	d.Observer.OutboxSeen(seen(now, health, waiting))
	err = errors.Join(err, d.follow(ctx, p), d.purge(ctx))
	d.noteUnlessEnding(ctx, err)
	if err != nil {
		return earlier(p.look, now.Add(faultPause))
	}
	return p.look
}

func (d *Dispatcher) noteUnlessEnding(ctx context.Context, err error) {
	if ctx.Err() == nil && !errors.Is(err, storage.ErrNotOpen) { // else whoever opens it tells
		d.fault.note(d.Log, err)
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// wait waits until it is time to look again, or somebody says so.
func (d *Dispatcher) wait(ctx context.Context, look time.Time) {
	timer := time.NewTimer(look.Sub(d.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-d.woken:
	case <-d.Storage.Enqueued():
	}
}

// follow works the outbox as planned.
func (d *Dispatcher) follow(ctx context.Context, p plan) error {
	if !p.awake {
		return d.sleep(ctx)
	}
	if d.client == nil {
		client, err := d.Storage.NewClient(ctx, outbox.Handlers{Deliver: d.deliver, Notify: d.Notify, RetryAt: d.retryAt}, d.Log)
		if err != nil {
			return err
		}
		if err := client.Start(ctx); err != nil {
			return err
		}
		d.client = client
	}
	return d.serve(ctx, p.serve)
}

// serve has receivers served as planned, and no others.
func (d *Dispatcher) serve(ctx context.Context, wanted map[string]bool) error {
	var failed error
	for id := range d.serving {
		if _, stays := wanted[id]; !stays { // and what it gets was broken off
			failed = errors.Join(failed, d.client.Leave(ctx, id))
			delete(d.serving, id)
		}
	}
	for id, sends := range wanted {
		failed = errors.Join(failed, d.serveOne(ctx, id, sends))
	}
	return failed
}

// serveOne has a receiver served, or left alone for a while.
func (d *Dispatcher) serveOne(ctx context.Context, id string, sends bool) error {
	before, served := d.serving[id]
	if served && before == sends {
		return nil
	}
	if !served {
		if err := d.client.Serve(id, atOnce); err != nil {
			return err
		}
	}
	turn := d.client.Rest
	if sends {
		turn = d.client.GoOn
	}
	if err := turn(ctx, id); err != nil {
		return err
	}
	d.serving[id] = sends
	return nil
}

// sleep works the outbox no more.
func (d *Dispatcher) sleep(ctx context.Context) error {
	if d.client == nil {
		return nil
	}
	err := d.client.Stop(ctx)
	d.client = nil
	clear(d.serving)
	return err
}

// seen is what an observer is told of a look.
func seen(now time.Time, receivers map[string]events.Health, waiting []outbox.Waiting) (due int64, oldest time.Duration, resting int) {
	for _, queue := range waiting {
		if since := now.Sub(queue.Next); since >= 0 && queue.Jobs > queue.Running {
			due += queue.Jobs
			oldest = max(oldest, since)
		}
	}
	for _, health := range receivers {
		if health.Status() == events.Failing {
			resting++
		}
	}
	return due, oldest, resting
}

// pause waits for so long, or until the context ends.
func pause(ctx context.Context, howLong time.Duration) {
	timer := time.NewTimer(howLong)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
