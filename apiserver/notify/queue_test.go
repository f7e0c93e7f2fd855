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

// A senderFunc is a function that sends.
type senderFunc func(context.Context, Message) error

func (f senderFunc) Send(ctx context.Context, m Message) error { return f(ctx, m) }

// A tally counts outcomes, and keeps the log.
type tally struct {
	mu     sync.Mutex
	counts map[Outcome]int
	text   strings.Builder
}

func (c *tally) tell(o Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[Outcome]int{}
	}
	c.counts[o]++
}

func (c *tally) Write(line []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(line)
}

func (c *tally) expect(t *testing.T, want map[Outcome]int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if diff := cmp.Diff(want, c.counts); diff != "" {
		t.Errorf("outcomes (-want +got)\n%s", diff)
	}
	expectSilent(t, c.text.String(), mailMessage())
}

// queue makes one that counts.
func (c *tally) queue(send senderFunc) *Queue {
	return NewQueue(Email, send, c.tell, slog.New(slog.NewTextHandler(c, nil)))
}

// run runs a queue in the background of a test.
func run(ctx context.Context, q *Queue) (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Run(ctx)
	}()
	return done
}

var errNow, errEver = temporary{errors.New("not now")}, errors.New("never")

func TestQueueSends(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers []error // to the tries
		want    Outcome
		tries   int
		atLeast time.Duration
	}{
		"at once":         {[]error{nil}, Sent, 1, 0},
		"the second time": {[]error{errNow, nil}, Sent, 2, retryAfter},
		"never":           {[]error{errEver}, Failed, 1, 0},
		"not twice":       {[]error{errNow, errNow}, Failed, 2, retryAfter},
		"wrong after all": {[]error{errNow, errEver}, Failed, 2, retryAfter},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var count tally
				tries, start := 0, time.Now()
				ctx, stop := context.WithCancel(t.Context())
				q := count.queue(func(context.Context, Message) error { tries++; return test.answers[tries-1] })
				ended := run(ctx, q)
				if !q.Send(mailMessage()) {
					t.Error("not taken")
				}
				time.Sleep(2 * retryAfter)
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

// Who calls never waits: what finds no room is dropped.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count tally
		release := make(chan struct{})
		q := count.queue(func(context.Context, Message) error { <-release; return nil })
		ctx, stop := context.WithCancel(t.Context())
		ended := run(ctx, q)
		for range workers {
			q.Send(mailMessage())
		}
		synctest.Wait() // all are at work
		for i := range mostWaiting + 3 {
			if taken := q.Send(mailMessage()); taken != (i < mostWaiting) {
				t.Errorf("message %d is taken: %v", i, taken)
			}
		}
		close(release)
		stop()
		<-ended
		count.expect(t, map[Outcome]int{Sent: workers + mostWaiting, Dropped: 3})
		if q.Send(mailMessage()) {
			t.Error("taken after the end")
		}
	})
}

// A queue that ends sends what waits, for a while.
func TestQueueDrains(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count tally
		q := count.queue(func(ctx context.Context, _ Message) error {
			select {
			case <-time.After(2 * time.Second):
				return nil
			case <-ctx.Done():
				return temporary{ctx.Err()}
			}
		})
		for range 5 * workers {
			q.Send(mailMessage())
		}
		ctx, stop := context.WithCancel(t.Context())
		start, ended := time.Now(), run(ctx, q)
		stop()
		<-ended
		if took := time.Since(start); took != drainTimeout {
			t.Errorf("it took %v to end", took)
		}
		count.expect(t, map[Outcome]int{Sent: 2 * workers, Failed: workers, Dropped: 2 * workers})
	})
}

// A message that waited too long helps nobody.
func TestQueueDropsWhatIsTooOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count tally
		q := count.queue(func(context.Context, Message) error { return nil })
		q.Send(mailMessage())
		time.Sleep(5 * time.Minute)
		q.Send(mailMessage())
		time.Sleep(5 * time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		ended := run(ctx, q)
		synctest.Wait()
		stop()
		<-ended
		count.expect(t, map[Outcome]int{Sent: 1, Dropped: 1})
	})
}

// A message that panics is one that failed.
func TestQueueGoesOnAfterPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var count tally
		calls := 0
		q := count.queue(func(_ context.Context, m Message) error {
			if calls++; calls == 1 {
				panic(m.Recipient + m.Code)
			}
			return nil
		})
		ctx, stop := context.WithCancel(t.Context())
		ended := run(ctx, q)
		q.Send(mailMessage())
		synctest.Wait()
		q.Send(mailMessage())
		synctest.Wait()
		stop()
		<-ended
		count.expect(t, map[Outcome]int{Failed: 1, Sent: 1})
	})
}
