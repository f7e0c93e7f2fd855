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

func (r *outcomeRecorder) record(o Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts == nil {
		r.counts = map[Outcome]int{}
	}
	r.counts[o]++
}

func (r *outcomeRecorder) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.logText.Write(line)
}

func (r *outcomeRecorder) expect(t *testing.T, want map[Outcome]int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(want, r.counts); diff != "" {
		t.Errorf("outcomes (-want +got)\n%s", diff)
	}
	expectRedacted(t, r.logText.String(), newEmail())
}

// newQueue returns a queue that reports to a recorder.
func (r *outcomeRecorder) newQueue(send senderFunc) *Queue {
	return NewQueue(Email, send, r.record, slog.New(slog.NewTextHandler(r, nil)))
}

// runQueue runs a queue in the background of a test.
func runQueue(ctx context.Context, q *Queue) (stopped <-chan struct{}) {
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
		errs     []error // error of each attempt
		want     Outcome
		attempts int
		atLeast  time.Duration
	}{
		"success":                  {[]error{nil}, Sent, 1, 0},
		"success on retry":         {[]error{errTransient, nil}, Sent, 2, retryDelay},
		"permanent error":          {[]error{errPermanent}, Failed, 1, 0},
		"transient error on retry": {[]error{errTransient, errTransient}, Failed, 2, retryDelay},
		"permanent error on retry": {[]error{errTransient, errPermanent}, Failed, 2, retryDelay},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var count outcomeRecorder
				attempts, start := 0, time.Now()
				ctx, stop := context.WithCancel(t.Context())
				q := count.newQueue(func(context.Context, Message) error { attempts++; return test.errs[attempts-1] })
				stopped := runQueue(ctx, q)
				if !q.Enqueue(newEmail()) {
					t.Error("message was not accepted")
				}
				time.Sleep(2 * retryDelay)
				synctest.Wait()
				count.expect(t, map[Outcome]int{test.want: 1})
				if attempts != test.attempts || time.Since(start) < test.atLeast {
					t.Errorf("got %d attempts, want %d", attempts, test.attempts)
				}
				stop()
				<-stopped
			})
		})
	}
}

// TestQueueDropsWhenFull checks that callers never wait: a full queue drops messages.
func TestQueueDropsWhenFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count outcomeRecorder
		release := make(chan struct{})
		q := count.newQueue(func(context.Context, Message) error { <-release; return nil })
		ctx, stop := context.WithCancel(t.Context())
		stopped := runQueue(ctx, q)
		for range workerCount {
			q.Enqueue(newEmail())
		}
		synctest.Wait() // all workers are busy
		for i := range queueCapacity + 3 {
			if accepted := q.Enqueue(newEmail()); accepted != (i < queueCapacity) {
				t.Errorf("message %d: accepted %v, want %v", i, accepted, i < queueCapacity)
			}
		}
		close(release)
		stop()
		<-stopped
		count.expect(t, map[Outcome]int{Sent: workerCount + queueCapacity, Dropped: 3})
		if q.Enqueue(newEmail()) {
			t.Error("message was accepted after the queue stopped")
		}
	})
}

// TestQueueDrainsOnShutdown checks that a stopping queue drains for a limited time.
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
		start, stopped := time.Now(), runQueue(ctx, q)
		stop()
		<-stopped
		if took := time.Since(start); took != drainTimeout {
			t.Errorf("draining took %v, want %v", took, drainTimeout)
		}
		count.expect(t, map[Outcome]int{Sent: 2 * workerCount, Failed: workerCount, Dropped: 2 * workerCount})
	})
}

// TestQueueDropsExpiredMessages checks that an expired message is not sent.
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
		stopped := runQueue(ctx, q)
		synctest.Wait()
		stop()
		<-stopped
		count.expect(t, map[Outcome]int{Sent: 1, Dropped: 1})
	})
}

// TestQueueRecoversFromPanic checks that a panic while sending counts as a failure.
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
		stopped := runQueue(ctx, q)
		q.Enqueue(newEmail())
		synctest.Wait()
		q.Enqueue(newEmail())
		synctest.Wait()
		stop()
		<-stopped
		count.expect(t, map[Outcome]int{Failed: 1, Sent: 1})
	})
}
