// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// A doer does jobs as the names of their events say, and remembers which it did.
type doer struct {
	mu   sync.Mutex
	done []string
}

func newDoer() *doer { return &doer{} }

func (d *doer) did() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.done
}

// note remembers something, and says how often it was noted before.
func (d *doer) note(what string) (before int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, done := range d.done {
		if done == what {
			before++
		}
	}
	d.done = append(d.done, what)
	return before
}

var errRefused = errors.New("the receiver refused")

func (d *doer) deliver(_ context.Context, delivery outbox.Delivery, attempt int) outbox.Outcome {
	before := d.note(fmt.Sprintf("%s %d", delivery.Event.ID, attempt))
	switch {
	case delivery.Event.ID == "retried" && attempt == 1:
		return outbox.Outcome{Err: errRefused, RetryAt: time.Now().Add(20 * time.Millisecond)}
	case delivery.Event.ID == "postponed" && before == 0:
		return outbox.Outcome{PostponeFor: 20 * time.Millisecond}
	case delivery.Event.ID == "given up":
		return outbox.Outcome{Err: errRefused}
	}
	return outbox.Outcome{}
}

func (d *doer) notify(_ context.Context, notification outbox.Notification) error {
	d.note("notification " + notification.SurveyID)
	return nil
}

// work does what a receiver is to be told, and notifications, until nothing of that is
// left.
func (d *doer) work(t *testing.T, store storage.Store, receiver string) {
	t.Helper()
	client, err := store.NewClient(t.Context(), outbox.Handlers{
		Deliver: d.deliver, Notify: d.notify, RetryAt: func(int) time.Time { return time.Now() },
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(client.Start(t.Context()), client.Serve(receiver, 4)); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		waiting, err := store.Waiting(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range waiting {
			if w.Receiver() == receiver || w.Receiver() == "" {
				return false
			}
		}
		return true
	})
	if err := errors.Join(client.Leave(t.Context(), receiver), client.Leave(t.Context(), receiver), client.Stop(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// until waits for something that comes about by itself.
func until(t *testing.T, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !reached(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come about")
		}
	}
}
