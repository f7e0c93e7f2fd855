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
	// queueCapacity is the maximum number of queued messages.
	queueCapacity = 256
	// workerCount is the number of messages sent concurrently.
	workerCount = 4
	// retryDelay is the delay before a failed message is retried, plus up to 50 % jitter.
	retryDelay = 3 * time.Second
	// drainTimeout is how long the queue keeps sending during shutdown.
	drainTimeout = 5 * time.Second
)

// Outcome is the outcome of a message, as a metric label.
type Outcome string

// The outcomes.
const (
	Sent    Outcome = "sent"    // handed over to the delivery service
	Failed  Outcome = "failed"  // rejected, after one retry if the error was temporary
	Dropped Outcome = "dropped" // never tried: queue full, expired, or no settings
)

// Queue sends the messages of one channel in the background, in no particular order,
// so that callers do not wait for delivery. It is bounded: when full, it drops
// messages. Each channel has its own queue, so that a stalled channel does not block
// the others.
type Queue struct {
	channel   Channel
	sender    Sender
	onOutcome func(Outcome)
	log       *slog.Logger

	pending chan queuedMessage
	mu      sync.Mutex
	closed  bool
}

// queuedMessage is a message and the time it was enqueued.
type queuedMessage struct {
	message  Message
	queuedAt time.Time
}

// NewQueue returns a queue, which sends once Run is called. It reports the outcome of
// each message to onOutcome and logs failures without recipient and code.
func NewQueue(channel Channel, sender Sender, onOutcome func(Outcome), log *slog.Logger) *Queue {
	return &Queue{channel: channel, sender: sender, onOutcome: onOutcome, log: log, pending: make(chan queuedMessage, queueCapacity)}
}

// Enqueue adds a message, or drops it if the queue is full or closed. It never blocks.
func (q *Queue) Enqueue(message Message) bool {
	if q.tryEnqueue(queuedMessage{message, time.Now()}) {
		return true
	}
	q.drop("queue is full or stopping")
	return false
}

func (q *Queue) tryEnqueue(queued queuedMessage) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	select {
	case q.pending <- queued:
		return true
	default:
		return false
	}
}

func (q *Queue) drop(reason string) {
	q.onOutcome(Dropped)
	q.log.Warn("dropped message", "channel", q.channel, "reason", reason)
}

// Run sends messages until ctx is done. Then it drains the queue for a limited time.
// It must be called only once.
func (q *Queue) Run(ctx context.Context) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var group sync.WaitGroup
	for range workerCount {
		group.Go(func() { q.runWorker(ctx, sending) })
	}
	<-ctx.Done()
	timer := time.AfterFunc(drainTimeout, cancel)
	defer timer.Stop()
	q.close()
	group.Wait()
}

func (q *Queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	close(q.pending)
}

// runWorker sends queued messages until the queue is closed and empty.
func (q *Queue) runWorker(running, sending context.Context) {
	for queued := range q.pending {
		switch {
		case sending.Err() != nil:
			q.drop("server is stopping")
		case time.Since(queued.queuedAt) >= queued.message.ValidFor:
			q.drop("code has expired")
		default:
			q.send(running, sending, queued.message)
		}
	}
}

// send sends one message, and retries once if the error is temporary.
func (q *Queue) send(running, sending context.Context, message Message) {
	err := q.sendRecovering(sending, message)
	if err != nil && IsTemporary(err) && waitForRetry(running) {
		err = q.sendRecovering(sending, message)
	}
	if err != nil {
		q.onOutcome(Failed)
		q.log.Error("failed to send message", "channel", q.channel, "error", err)
		return
	}
	q.onOutcome(Sent)
}

// sendRecovering sends a message and recovers from panics of the sender, so that they
// do not crash the server.
func (q *Queue) sendRecovering(ctx context.Context, message Message) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic with a value of type %T", value)
		}
	}()
	return q.sender.Send(ctx, message)
}

// waitForRetry waits for the retry delay, and reports whether it elapsed before ctx
// was done.
func waitForRetry(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(retryDelay + rand.N(retryDelay/2)): //nolint:gosec // not security-sensitive
		return true
	}
}
