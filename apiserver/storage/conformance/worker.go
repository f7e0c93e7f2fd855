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

// fakeWorker works jobs as the ids of their events specify, and records them.
type fakeWorker struct {
	mu   sync.Mutex
	done []string
}

func newFakeWorker() *fakeWorker { return &fakeWorker{} }

func (w *fakeWorker) completed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

// record records a job and returns how often it was recorded before.
func (w *fakeWorker) record(job string) (before int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, done := range w.done {
		if done == job {
			before++
		}
	}
	w.done = append(w.done, job)
	return before
}

var errRejected = errors.New("receiver rejected the event")

func (w *fakeWorker) deliver(_ context.Context, delivery outbox.Delivery, attempt int) outbox.Outcome {
	before := w.record(fmt.Sprintf("%s %d", delivery.Event.ID, attempt))
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

func (w *fakeWorker) notify(_ context.Context, notification outbox.Notification) error {
	w.record("notification " + notification.SurveyID)
	return nil
}

// drain works the notifications and the deliveries to a receiver until none are left.
func (w *fakeWorker) drain(t *testing.T, store storage.Store, receiver string) {
	t.Helper()
	client, err := store.NewOutboxClient(t.Context(), outbox.Handlers{
		Deliver: w.deliver, Notify: w.notify, RetryAt: func(int) time.Time { return time.Now() },
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(client.Start(t.Context()), client.AddReceiver(receiver, 4)); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool {
		queues, err := store.QueueStats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, queue := range queues {
			if queue.ReceiverID() == receiver || queue.ReceiverID() == "" {
				return false
			}
		}
		return true
	})
	if err := errors.Join(client.RemoveReceiver(t.Context(), receiver), client.RemoveReceiver(t.Context(), receiver), client.Stop(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// eventually waits until a condition is met.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("condition not met within 30 seconds")
		}
	}
}
