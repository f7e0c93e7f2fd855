// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

func newWebhook(url string) event.Webhook {
	return event.Webhook{
		ID: uuid.NewString(), Settings: event.WebhookSettings{URL: url, Reference: "r"},
		EncryptedSecrets: []byte("sealed"), KeyVersion: "g1",
	}
}

func newAttempt(webhook event.Webhook, number int) event.Attempt {
	return event.Attempt{
		ID: uuid.NewString(), WebhookID: webhook.ID, At: testTime.Add(time.Duration(number) * time.Second), Number: number,
		Event:      event.Event{ID: uuid.NewString(), Type: "survey_finished", Content: json.RawMessage(`{"survey_id":"s1"}`)},
		StatusCode: 500, Error: "receiver responded with status 500", NextAttemptAt: testTime.Add(time.Hour),
	}
}

func insertWebhooks(t *testing.T, store storage.Store, webhooks ...event.Webhook) {
	t.Helper()
	transact(t, store, func(tx storage.Tx) error {
		for _, webhook := range webhooks {
			if err := tx.InsertWebhook(t.Context(), webhook); err != nil {
				return err
			}
		}
		return nil
	})
}

func expectWebhooks(t *testing.T, store storage.Store, want ...event.Webhook) {
	t.Helper()
	transact(t, store, func(tx storage.Tx) error {
		got, err := tx.ListWebhooks(t.Context())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("webhooks (-want +got):\n%s", diff)
		}
		return err
	})
}

func testWebhooks(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	updated, unsubscribed := newWebhook("https://webhook.example/events"), newWebhook("https://two.example/events")
	unsubscribed.Settings.Events = []event.Type{}
	insertWebhooks(t, store, updated, unsubscribed)
	expectWebhooks(t, store, updated, unsubscribed)

	updated.Settings = event.WebhookSettings{URL: "https://three.example", Events: []event.Type{event.Notification}}
	updated.EncryptedSecrets, updated.KeyVersion = []byte("sealed again"), "g2"
	updated.Health = event.ReceiverHealth{Disabled: true, ConsecutiveFailures: 7, CircuitOpenUntil: testTime}
	transact(t, store, func(tx storage.Tx) error {
		locked, err := tx.LockWebhook(t.Context(), updated.ID)
		if err == nil && locked.Settings.URL != "https://webhook.example/events" {
			t.Errorf("LockWebhook returned %+v", locked)
		}
		return errors.Join(err, tx.UpdateWebhook(t.Context(), updated))
	})
	expectWebhooks(t, store, updated, unsubscribed)
	unsubscribed.Health = event.ReceiverHealth{ConsecutiveFailures: 2}
	transact(t, store, func(tx storage.Tx) error {
		return errors.Join(tx.UpdateWebhookHealth(t.Context(), unsubscribed.ID, unsubscribed.Health),
			tx.UpdateWebhookHealth(t.Context(), uuid.NewString(), unsubscribed.Health), tx.DeleteWebhook(t.Context(), updated.ID))
	})
	expectWebhooks(t, store, unsubscribed)
	for name, read := range map[string]func(storage.Tx) error{
		"GetWebhook":    func(tx storage.Tx) error { _, err := tx.GetWebhook(t.Context(), updated.ID); return err },
		"LockWebhook":   func(tx storage.Tx) error { _, err := tx.LockWebhook(t.Context(), updated.ID); return err },
		"DeleteWebhook": func(tx storage.Tx) error { return tx.DeleteWebhook(t.Context(), updated.ID) },
		"GetWebhookAttempt": func(tx storage.Tx) error {
			_, err := tx.GetWebhookAttempt(t.Context(), unsubscribed.ID, uuid.NewString())
			return err
		},
		"ListWebhookAttempts": func(tx storage.Tx) error {
			_, _, err := tx.ListWebhookAttempts(t.Context(), updated.ID, 0, 1)
			return err
		},
	} {
		if err := store.Transact(t.Context(), read); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%s of a deleted webhook: got %v, want record.ErrNotFound", name, err)
		}
	}
}

func testWebhookAttempts(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	webhook, otherWebhook, unknown := newWebhook("https://webhook.example"), newWebhook("https://two.example"), newWebhook("https://three.example")
	insertWebhooks(t, store, webhook, otherWebhook)
	first, second, third := newAttempt(webhook, 1), newAttempt(webhook, 2), newAttempt(webhook, 3)
	third.StatusCode, third.Error, third.NextAttemptAt = 200, "", time.Time{}
	elsewhere := newAttempt(otherWebhook, 1)
	transact(t, store, func(tx storage.Tx) error {
		return tx.InsertWebhookAttempts(t.Context(), []event.Attempt{first, elsewhere, second, newAttempt(unknown, 1), third})
	})
	wantPage := func(offset, limit int64, want ...event.Attempt) {
		t.Helper()
		transact(t, store, func(tx storage.Tx) error {
			got, total, err := tx.ListWebhookAttempts(t.Context(), webhook.ID, offset, limit)
			if diff := cmp.Diff(want, got); diff != "" || total != 3 {
				t.Errorf("attempts from offset %d, total %d (-want +got):\n%s", offset, total, diff)
			}
			return err
		})
	}
	wantPage(0, 2, third, second)
	wantPage(2, 2, first)
	transact(t, store, func(tx storage.Tx) error {
		got, err := tx.GetWebhookAttempt(t.Context(), webhook.ID, second.ID)
		if diff := cmp.Diff(second, got); diff != "" {
			t.Errorf("attempt (-want +got):\n%s", diff)
		}
		if _, err := tx.GetWebhookAttempt(t.Context(), otherWebhook.ID, second.ID); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("attempt of another webhook: got %v, want ErrNotFound", err)
		}
		return err
	})
	transact(t, store, func(tx storage.Tx) error {
		deleted, err := tx.DeleteWebhookAttempts(t.Context(), third.At, 2)
		if deleted != 2 {
			t.Errorf("deleted %d attempts, want the limit of 2", deleted)
		}
		if err == nil {
			deleted, err = tx.DeleteWebhookAttempts(t.Context(), third.At, 2)
		}
		if deleted != 1 {
			t.Errorf("deleted %d attempts, want the remaining 1", deleted)
		}
		return err
	})
	transact(t, store, func(tx storage.Tx) error {
		got, total, err := tx.ListWebhookAttempts(t.Context(), webhook.ID, 0, 10)
		if len(got) != 1 || total != 1 || got[0].ID != third.ID {
			t.Errorf("after deleting expired attempts: total %d, attempts %+v", total, got)
		}
		return errors.Join(err, tx.DeleteWebhook(t.Context(), webhook.ID))
	})
}

func testNotifications(t *testing.T, fresh NewDatabase) {
	store, _, patient := newStoreWithPatient(t, fresh(t))
	survey, deleted := newSurvey(patient.ID), newSurvey(patient.ID)
	insertSurveys(t, store, survey, deleted)
	early, late := testTime, testTime.Add(time.Hour)
	put := func(id string, at time.Time) {
		transact(t, store, func(tx storage.Tx) error { return tx.ScheduleNotification(t.Context(), id, at) })
	}
	wantClaimed := func(name, id string, at time.Time, want bool) {
		t.Helper()
		transact(t, store, func(tx storage.Tx) error {
			claimed, err := tx.ClaimNotification(t.Context(), id, at)
			if claimed != want {
				t.Errorf("%s: claimed %t, want %t", name, claimed, want)
			}
			return err
		})
	}
	put(survey.ID, early)
	put(survey.ID, late)
	wantClaimed("at the previous time", survey.ID, early, false)
	wantClaimed("at the new time", survey.ID, late, true)
	wantClaimed("a second time", survey.ID, late, false)
	put(survey.ID, early)
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteNotification(t.Context(), survey.ID) })
	wantClaimed("after cancellation", survey.ID, early, false)
	put(deleted.ID, late)
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteSurvey(t.Context(), deleted.ID) })
	wantClaimed("after survey deletion", deleted.ID, late, false)

	queues, err := store.QueueStats(t.Context())
	if err != nil || len(queues) != 1 || queues[0].ReceiverID() != "" || queues[0].NextDueAt.Sub(early).Abs() > time.Millisecond || queues[0].Jobs != 4 {
		t.Errorf("got queues %+v, error %v; want four jobs, the first due at %v", queues, err, early)
	}
}

func newDeliveries(webhook event.Webhook, ids ...string) []outbox.Delivery {
	deliveries := make([]outbox.Delivery, len(ids))
	for i, id := range ids {
		deliveries[i] = outbox.Delivery{ReceiverID: webhook.ID, Event: event.Event{ID: id, Type: "ping", Content: json.RawMessage(`{}`)}}
	}
	return deliveries
}

// errRollback rolls back a transaction.
var errRollback = errors.New("rollback")

// testOutboxIsTransactional checks that outbox jobs exist if and only if their
// transaction commits.
func testOutboxIsTransactional(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	webhook, otherWebhook := newWebhook("https://webhook.example"), newWebhook("https://two.example")
	insertWebhooks(t, store, webhook, otherWebhook)
	err := store.Transact(t.Context(), func(tx storage.Tx) error {
		return errors.Join(tx.EnqueueDeliveries(t.Context(), newDeliveries(webhook, "e0")), errRollback)
	})
	if !errors.Is(err, errRollback) {
		t.Fatal(err)
	}
	transact(t, store, func(tx storage.Tx) error {
		return errors.Join(tx.EnqueueDeliveries(t.Context(), nil), tx.EnqueueDeliveries(t.Context(), newDeliveries(webhook, "e1", "e2")),
			tx.EnqueueDeliveries(t.Context(), newDeliveries(otherWebhook, "e3")))
	})
	jobs := func() map[string]int64 {
		t.Helper()
		queues, err := store.QueueStats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int64{}
		for _, queue := range queues {
			counts[queue.ReceiverID()] = queue.Jobs
			if since := time.Since(queue.NextDueAt); since < -time.Second || since > time.Minute || queue.Running != 0 {
				t.Errorf("queue %+v is not due now", queue)
			}
		}
		return counts
	}
	if diff := cmp.Diff(map[string]int64{webhook.ID: 2, otherWebhook.ID: 1}, jobs()); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	if enqueued := store.Enqueued(); enqueued != nil {
		select {
		case <-enqueued:
		case <-time.After(10 * time.Second):
			t.Error("Enqueued did not signal the insertion")
		}
	}
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteWebhook(t.Context(), webhook.ID) })
	if diff := cmp.Diff(map[string]int64{otherWebhook.ID: 1}, jobs()); diff != "" {
		t.Errorf("jobs after webhook deletion (-want +got):\n%s", diff)
	}
}

// testOutboxJobsRun checks that a client works jobs according to their outcomes, across
// restarts.
func testOutboxJobsRun(t *testing.T, fresh NewDatabase) {
	store, _, patient := newStoreWithPatient(t, fresh(t))
	survey := newSurvey(patient.ID)
	insertSurveys(t, store, survey)
	webhook, otherWebhook := newWebhook("https://webhook.example"), newWebhook("https://two.example")
	insertWebhooks(t, store, webhook, otherWebhook)
	transact(t, store, func(tx storage.Tx) error {
		return errors.Join(tx.EnqueueDeliveries(t.Context(), newDeliveries(webhook, "done", "retried", "postponed", "given up")),
			tx.EnqueueDeliveries(t.Context(), newDeliveries(otherWebhook, "not served")), tx.ScheduleNotification(t.Context(), survey.ID, testTime))
	})
	worker := newFakeWorker()
	for range 2 { // the second client finds no jobs left
		worker.drain(t, store, webhook.ID)
	}
	want := []string{"done 1", "given up 1", "notification " + survey.ID, "postponed 1", "postponed 1", "retried 1", "retried 2"}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(worker.completed()))); diff != "" {
		t.Errorf("completed jobs (-want +got):\n%s", diff)
	}
	queues, err := store.QueueStats(t.Context())
	if err != nil || len(queues) != 1 || queues[0].ReceiverID() != otherWebhook.ID {
		t.Errorf("got queues %+v, error %v; want only the queue of the other webhook", queues, err)
	}
}
