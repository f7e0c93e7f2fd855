// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// mostWaiting is how many messages may wait to be sent.
	mostWaiting = 256
	// workers is how many messages are sent at once.
	workers = 4
	// retryAfter is how long a message waits that could not be sent, up to half
	// as long again.
	retryAfter = 3 * time.Second
	// drainTimeout is how long a server that stops goes on sending.
	drainTimeout = 5 * time.Second
)

// Outcome is what became of a message, as metrics call it.
type Outcome string

// The outcomes.
const (
	Sent    Outcome = "sent"    // handed over to who delivers it
	Failed  Outcome = "failed"  // refused, twice where that might have helped
	Dropped Outcome = "dropped" // never tried, for want of room, time or settings
)

// Queue sends the messages of one channel in the background, in no order, so
// that nobody waits for who delivers them. It is bounded: what finds no room is
// dropped. A channel has a queue of its own, so that one that hangs holds up no
// other.
type Queue struct {
	channel Channel
	sender  Sender
	tell    func(Outcome)
	log     *slog.Logger

	waiting chan waiting
	mu      sync.Mutex
	closed  bool
}

// waiting is a message and when it came.
type waiting struct {
	message Message
	since   time.Time
}

// NewQueue makes a queue, which sends once it runs. It tells what becomes of
// each message; the log has the reasons, and neither recipient nor code.
func NewQueue(channel Channel, sender Sender, tell func(Outcome), log *slog.Logger) *Queue {
	return &Queue{channel: channel, sender: sender, tell: tell, log: log, waiting: make(chan waiting, mostWaiting)}
}

// Send takes a message, or drops it when there is no room or the queue has
// ended. It never waits.
func (q *Queue) Send(message Message) bool {
	if q.put(waiting{message, time.Now()}) {
		return true
	}
	q.drop("a message is dropped: too many wait to be sent, or the server stops")
	return false
}

func (q *Queue) put(one waiting) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	select {
	case q.waiting <- one:
		return true
	default:
		return false
	}
}

func (q *Queue) drop(why string) {
	q.tell(Dropped)
	q.log.Warn(why, "channel", q.channel)
}

// Run sends messages until ctx ends, and then, for a bounded time, those that
// still wait. It may be called once.
func (q *Queue) Run(ctx context.Context) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var all sync.WaitGroup
	for range workers {
		all.Go(func() { q.work(ctx, sending) })
	}
	<-ctx.Done()
	timer := time.AfterFunc(drainTimeout, cancel)
	defer timer.Stop()
	q.close()
	all.Wait()
}

func (q *Queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	close(q.waiting)
}

// work sends what waits until nothing does and the queue is closed.
func (q *Queue) work(running, sending context.Context) {
	for one := range q.waiting {
		switch {
		case sending.Err() != nil:
			q.drop("a message is dropped: the server stops")
		case time.Since(one.since) >= one.message.Valid:
			q.drop("a message is dropped: its code is not good any more")
		default:
			q.send(running, sending, one.message)
		}
	}
}

// send sends one message, and once more when that may help.
func (q *Queue) send(running, sending context.Context, message Message) {
	err := q.try(sending, message)
	if err != nil && IsTemporary(err) && pause(running) {
		err = q.try(sending, message)
	}
	if err != nil {
		q.tell(Failed)
		q.log.Error("a message is not sent", "channel", q.channel, "error", err)
		return
	}
	q.tell(Sent)
}

// try keeps a sender's panic from ending the server.
func (q *Queue) try(ctx context.Context, message Message) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("sending a message: a panic with a value of type %T", value)
		}
	}()
	return q.sender.Send(ctx, message)
}

// pause waits a while, and reports whether it was not cut short.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(retryAfter + rand.N(retryAfter/2)): //nolint:gosec // spreads, and guards nothing
		return true
	}
}
