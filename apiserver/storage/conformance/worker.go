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

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// fakeWorker works jobs as the names of their events specify, and records them.
type fakeWorker struct {
	mu   sync.Mutex
	done []string
}

func newFakeWorker() *fakeWorker { return &fakeWorker{} }

func (d *fakeWorker) completed() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.done
}

// record records a job and returns how often it was recorded before.
func (d *fakeWorker) record(what string) (before int) {
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

var errRejected = errors.New("the receiver refused")

func (d *fakeWorker) deliver(_ context.Context, delivery outbox.Delivery, attempt int) outbox.Outcome {
	before := d.record(fmt.Sprintf("%s %d", delivery.Event.ID, attempt))
	switch {
	case delivery.Event.ID == "retried" && attempt == 1:
		return outbox.Outcome{Err: errRejected, RetryAt: time.Now().Add(20 * time.Millisecond)}
	case delivery.Event.ID == "postponed" && before == 0:
		return outbox.Outcome{SnoozeFor: 20 * time.Millisecond}
	case delivery.Event.ID == "given up":
		return outbox.Outcome{Err: errRejected}
	}
	return outbox.Outcome{}
}

func (d *fakeWorker) notify(_ context.Context, notification outbox.Notification) error {
	d.record("notification " + notification.SurveyID)
	return nil
}

// drain works the deliveries of a receiver and the notifications until none are left.
func (d *fakeWorker) drain(t *testing.T, store storage.Store, receiver string) {
	t.Helper()
	client, err := store.NewOutboxClient(t.Context(), outbox.Handlers{
		Deliver: d.deliver, Notify: d.notify, RetryAt: func(int) time.Time { return time.Now() },
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(client.Start(t.Context()), client.AddReceiver(receiver, 4)); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		waiting, err := store.QueueStats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range waiting {
			if w.ReceiverID() == receiver || w.ReceiverID() == "" {
				return false
			}
		}
		return true
	})
	if err := errors.Join(client.RemoveReceiver(t.Context(), receiver), client.RemoveReceiver(t.Context(), receiver), client.Stop(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until an asynchronous condition is met.
func eventually(t *testing.T, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !reached(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not come about")
		}
	}
}
