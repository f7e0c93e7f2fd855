// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A senderFunc is a function that implements Sender.
type senderFunc func(context.Context, Message) error

func (f senderFunc) Send(ctx context.Context, m Message) error { return f(ctx, m) }

// An outcomeRecorder counts outcomes and captures the log.
type outcomeRecorder struct {
	mu      sync.Mutex
	counts  map[Outcome]int
	logText strings.Builder
}

func (c *outcomeRecorder) record(o Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[Outcome]int{}
	}
	c.counts[o]++
}

func (c *outcomeRecorder) Write(line []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.logText.Write(line)
}

func (c *outcomeRecorder) expect(t *testing.T, want map[Outcome]int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if diff := cmp.Diff(want, c.counts); diff != "" {
		t.Errorf("outcomes (-want +got)\n%s", diff)
	}
	expectRedacted(t, c.logText.String(), newEmail())
}

// newQueue returns a queue that reports to a recorder.
func (c *outcomeRecorder) newQueue(send senderFunc) *Queue {
	return NewQueue(Email, send, c.record, slog.New(slog.NewTextHandler(c, nil)))
}

// runQueue runs a queue in the background of a test.
func runQueue(ctx context.Context, q *Queue) (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Run(ctx)
	}()
	return done
}

var errTransient, errPermanent = temporaryError{errors.New("not now")}, errors.New("never")

func TestQueueSend(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers []error // to the tries
		want    Outcome
		tries   int
		atLeast time.Duration
	}{
		"at once":         {[]error{nil}, Sent, 1, 0},
		"the second time": {[]error{errTransient, nil}, Sent, 2, retryDelay},
		"never":           {[]error{errPermanent}, Failed, 1, 0},
		"not twice":       {[]error{errTransient, errTransient}, Failed, 2, retryDelay},
		"wrong after all": {[]error{errTransient, errPermanent}, Failed, 2, retryDelay},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var count outcomeRecorder
				tries, start := 0, time.Now()
				ctx, stop := context.WithCancel(t.Context())
				q := count.newQueue(func(context.Context, Message) error { tries++; return test.answers[tries-1] })
				ended := runQueue(ctx, q)
				if !q.Enqueue(newEmail()) {
					t.Error("not taken")
				}
				time.Sleep(2 * retryDelay)
				synctest.Wait()
				count.expect(t, map[Outcome]int{test.want: 1})
				if tries != test.tries || time.Since(start) < test.atLeast {
					t.Errorf("%d tries", tries)
				}
				stop()
				<-ended
			})
		})
	}
}

// Callers never wait: a full queue drops messages.
func TestQueueDropsWhenFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count outcomeRecorder
		release := make(chan struct{})
		q := count.newQueue(func(context.Context, Message) error { <-release; return nil })
		ctx, stop := context.WithCancel(t.Context())
		ended := runQueue(ctx, q)
		for range workerCount {
			q.Enqueue(newEmail())
		}
		synctest.Wait() // all workers are busy
		for i := range queueCapacity + 3 {
			if taken := q.Enqueue(newEmail()); taken != (i < queueCapacity) {
				t.Errorf("message %d is taken: %v", i, taken)
			}
		}
		close(release)
		stop()
		<-ended
		count.expect(t, map[Outcome]int{Sent: workerCount + queueCapacity, Dropped: 3})
		if q.Enqueue(newEmail()) {
			t.Error("taken after the end")
		}
	})
}

// A stopping queue drains for a limited time.
func TestQueueDrainsOnShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count outcomeRecorder
		q := count.newQueue(func(ctx context.Context, _ Message) error {
			select {
			case <-time.After(2 * time.Second):
				return nil
			case <-ctx.Done():
				return temporaryError{ctx.Err()}
			}
		})
		for range 5 * workerCount {
			q.Enqueue(newEmail())
		}
		ctx, stop := context.WithCancel(t.Context())
		start, ended := time.Now(), runQueue(ctx, q)
		stop()
		<-ended
		if took := time.Since(start); took != drainTimeout {
			t.Errorf("it took %v to end", took)
		}
		count.expect(t, map[Outcome]int{Sent: 2 * workerCount, Failed: workerCount, Dropped: 2 * workerCount})
	})
}

// An expired message is not sent.
func TestQueueDropsExpiredMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count outcomeRecorder
		q := count.newQueue(func(context.Context, Message) error { return nil })
		q.Enqueue(newEmail())
		time.Sleep(5 * time.Minute)
		q.Enqueue(newEmail())
		time.Sleep(5 * time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		ended := runQueue(ctx, q)
		synctest.Wait()
		stop()
		<-ended
		count.expect(t, map[Outcome]int{Sent: 1, Dropped: 1})
	})
}

// A panic while sending counts as a failure.
func TestQueueRecoversFromPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count outcomeRecorder
		calls := 0
		q := count.newQueue(func(_ context.Context, m Message) error {
			if calls++; calls == 1 {
				panic(m.Recipient + m.Code)
			}
			return nil
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := runQueue(ctx, q)
		q.Enqueue(newEmail())
		synctest.Wait()
		q.Enqueue(newEmail())
		synctest.Wait()
		stop()
		<-ended
		count.expect(t, map[Outcome]int{Failed: 1, Sent: 1})
	})
}
