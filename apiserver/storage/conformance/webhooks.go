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
		StatusCode: 500, Error: "the receiver answered 500", NextAttemptAt: testTime.Add(time.Hour),
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
			t.Errorf("webhooks differ:\n%s", diff)
		}
		return err
	})
}

func testWebhooks(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	all, none := newWebhook("https://one.example/events"), newWebhook("https://two.example/events")
	none.Settings.Events = []event.Type{}
	insertWebhooks(t, store, all, none)
	expectWebhooks(t, store, all, none)

	all.Settings = event.WebhookSettings{URL: "https://three.example", Events: []event.Type{event.Notification}}
	all.EncryptedSecrets, all.KeyVersion = []byte("sealed again"), "g2"
	all.Health = event.ReceiverHealth{Disabled: true, ConsecutiveFailures: 7, CircuitOpenUntil: testTime}
	transact(t, store, func(tx storage.Tx) error {
		locked, err := tx.LockWebhook(t.Context(), all.ID)
		if err == nil && locked.Settings.URL != "https://one.example/events" {
			t.Errorf("locked %+v", locked)
		}
		return errors.Join(err, tx.UpdateWebhook(t.Context(), all))
	})
	expectWebhooks(t, store, all, none)
	none.Health = event.ReceiverHealth{ConsecutiveFailures: 2}
	transact(t, store, func(tx storage.Tx) error {
		return errors.Join(tx.UpdateWebhookHealth(t.Context(), none.ID, none.Health),
			tx.UpdateWebhookHealth(t.Context(), uuid.NewString(), none.Health), tx.DeleteWebhook(t.Context(), all.ID))
	})
	expectWebhooks(t, store, none)
	for name, read := range map[string]func(storage.Tx) error{
		"Webhook":       func(tx storage.Tx) error { _, err := tx.GetWebhook(t.Context(), all.ID); return err },
		"LockWebhook":   func(tx storage.Tx) error { _, err := tx.LockWebhook(t.Context(), all.ID); return err },
		"DeleteWebhook": func(tx storage.Tx) error { return tx.DeleteWebhook(t.Context(), all.ID) },
		"WebhookAttempt": func(tx storage.Tx) error {
			_, err := tx.GetWebhookAttempt(t.Context(), none.ID, uuid.NewString())
			return err
		},
		"WebhookAttempts": func(tx storage.Tx) error { _, _, err := tx.ListWebhookAttempts(t.Context(), all.ID, 0, 1); return err },
	} {
		if err := store.Transact(t.Context(), read); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%s of what is gone: got %v, want record.ErrNotFound", name, err)
		}
	}
}

func testWebhookAttempts(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	one, other, gone := newWebhook("https://one.example"), newWebhook("https://two.example"), newWebhook("https://three.example")
	insertWebhooks(t, store, one, other)
	first, second, third := newAttempt(one, 1), newAttempt(one, 2), newAttempt(one, 3)
	third.StatusCode, third.Error, third.NextAttemptAt = 200, "", time.Time{}
	elsewhere := newAttempt(other, 1)
	transact(t, store, func(tx storage.Tx) error {
		return tx.InsertWebhookAttempts(t.Context(), []event.Attempt{first, elsewhere, second, newAttempt(gone, 1), third})
	})
	wantPage := func(skipped, atMost int64, want ...event.Attempt) {
		t.Helper()
		transact(t, store, func(tx storage.Tx) error {
			got, total, err := tx.ListWebhookAttempts(t.Context(), one.ID, skipped, atMost)
			if diff := cmp.Diff(want, got); diff != "" || total != 3 {
				t.Errorf("attempts from %d on, of %d:\n%s", skipped, total, diff)
			}
			return err
		})
	}
	wantPage(0, 2, third, second)
	wantPage(2, 2, first)
	transact(t, store, func(tx storage.Tx) error {
		got, err := tx.GetWebhookAttempt(t.Context(), one.ID, second.ID)
		if diff := cmp.Diff(second, got); diff != "" {
			t.Errorf("attempt differs:\n%s", diff)
		}
		if _, err := tx.GetWebhookAttempt(t.Context(), other.ID, second.ID); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("an attempt of another's: got %v", err)
		}
		return err
	})
	transact(t, store, func(tx storage.Tx) error {
		deleted, err := tx.DeleteWebhookAttempts(t.Context(), third.At, 2)
		if deleted != 2 {
			t.Errorf("deleted %d, want 2 at most", deleted)
		}
		if err == nil {
			deleted, err = tx.DeleteWebhookAttempts(t.Context(), third.At, 2)
		}
		if deleted != 1 {
			t.Errorf("deleted %d, want the one that is left", deleted)
		}
		return err
	})
	transact(t, store, func(tx storage.Tx) error {
		got, total, err := tx.ListWebhookAttempts(t.Context(), one.ID, 0, 10)
		if len(got) != 1 || total != 1 || got[0].ID != third.ID {
			t.Errorf("after erasing the old ones there are %d, %+v", total, got)
		}
		return errors.Join(err, tx.DeleteWebhook(t.Context(), one.ID))
	})
}

func testNotifications(t *testing.T, fresh NewDatabase) {
	store, _, patient := newStoreWithPatient(t, fresh(t))
	survey, erased := newSurvey(patient.ID), newSurvey(patient.ID)
	insertSurveys(t, store, survey, erased)
	early, late := testTime, testTime.Add(time.Hour)
	put := func(id string, at time.Time) {
		transact(t, store, func(tx storage.Tx) error { return tx.ScheduleNotification(t.Context(), id, at) })
	}
	wantTaken := func(what, id string, at time.Time, want bool) {
		t.Helper()
		transact(t, store, func(tx storage.Tx) error {
			taken, err := tx.ClaimNotification(t.Context(), id, at)
			if taken != want {
				t.Errorf("%s: taken %t, want %t", what, taken, want)
			}
			return err
		})
	}
	put(survey.ID, early)
	put(survey.ID, late)
	wantTaken("where it was moved from", survey.ID, early, false)
	wantTaken("where it was moved to", survey.ID, late, true)
	wantTaken("again", survey.ID, late, false)
	put(survey.ID, early)
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteNotification(t.Context(), survey.ID) })
	wantTaken("cancelled", survey.ID, early, false)
	put(erased.ID, late)
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteSurvey(t.Context(), erased.ID) })
	wantTaken("with its survey", erased.ID, late, false)

	waiting, err := store.QueueStats(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].ReceiverID() != "" || waiting[0].NextDueAt.Sub(early).Abs() > time.Millisecond || waiting[0].Jobs != 4 {
		t.Errorf("waiting are %+v, %v; want four jobs from %v on", waiting, err, early)
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
var errRollback = errors.New("undone")

// testOutboxIsTransactional checks that outbox jobs exist if and only if their
// transaction commits.
func testOutboxIsTransactional(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	one, other := newWebhook("https://one.example"), newWebhook("https://two.example")
	insertWebhooks(t, store, one, other)
	err := store.Transact(t.Context(), func(tx storage.Tx) error {
		return errors.Join(tx.EnqueueDeliveries(t.Context(), newDeliveries(one, "e0")), errRollback)
	})
	if !errors.Is(err, errRollback) {
		t.Fatal(err)
	}
	transact(t, store, func(tx storage.Tx) error {
		return errors.Join(tx.EnqueueDeliveries(t.Context(), nil), tx.EnqueueDeliveries(t.Context(), newDeliveries(one, "e1", "e2")),
			tx.EnqueueDeliveries(t.Context(), newDeliveries(other, "e3")))
	})
	jobs := func() map[string]int64 {
		t.Helper()
		waiting, err := store.QueueStats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int64{}
		for _, w := range waiting {
			counts[w.ReceiverID()] = w.Jobs
			if since := time.Since(w.NextDueAt); since < -time.Second || since > time.Minute || w.Running != 0 {
				t.Errorf("%+v is not due now", w)
			}
		}
		return counts
	}
	if diff := cmp.Diff(map[string]int64{one.ID: 2, other.ID: 1}, jobs()); diff != "" {
		t.Errorf("jobs differ:\n%s", diff)
	}
	if told := store.Enqueued(); told != nil {
		select {
		case <-told:
		case <-time.After(10 * time.Second):
			t.Error("the insertion was not signaled")
		}
	}
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteWebhook(t.Context(), one.ID) })
	if diff := cmp.Diff(map[string]int64{other.ID: 1}, jobs()); diff != "" {
		t.Errorf("jobs differ after their receiver went:\n%s", diff)
	}
}

// testOutboxJobsRun checks that a client works jobs according to their outcomes, across
// restarts.
func testOutboxJobsRun(t *testing.T, fresh NewDatabase) {
	store, _, patient := newStoreWithPatient(t, fresh(t))
	survey := newSurvey(patient.ID)
	insertSurveys(t, store, survey)
	one, other := newWebhook("https://one.example"), newWebhook("https://two.example")
	insertWebhooks(t, store, one, other)
	transact(t, store, func(tx storage.Tx) error {
		return errors.Join(tx.EnqueueDeliveries(t.Context(), newDeliveries(one, "done", "retried", "postponed", "given up")),
			tx.EnqueueDeliveries(t.Context(), newDeliveries(other, "not served")), tx.ScheduleNotification(t.Context(), survey.ID, testTime))
	})
	d := newFakeWorker()
	for range 2 { // the second client finds no work left
		d.drain(t, store, one.ID)
	}
	want := []string{"done 1", "given up 1", "notification " + survey.ID, "postponed 1", "postponed 1", "retried 1", "retried 2"}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(d.completed()))); diff != "" {
		t.Errorf("what was done differs:\n%s", diff)
	}
	waiting, err := store.QueueStats(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].ReceiverID() != other.ID {
		t.Errorf("left are %+v, %v; want what is not served", waiting, err)
	}
}
