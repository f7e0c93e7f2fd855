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

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

func aWebhook(url string) storage.Webhook {
	return storage.Webhook{
		ID: uuid.NewString(), Settings: storage.WebhookSettings{URL: url, Reference: "r"},
		Secrets: []byte("sealed"), Generation: "g1",
	}
}

func anAttempt(webhook storage.Webhook, number int) storage.WebhookAttempt {
	return storage.WebhookAttempt{
		ID: uuid.NewString(), WebhookID: webhook.ID, At: moment.Add(time.Duration(number) * time.Second), Number: number,
		Event:  events.Event{ID: uuid.NewString(), Type: "survey_finished", Content: json.RawMessage(`{"survey_id":"s1"}`)},
		Status: 500, Error: "the receiver answered 500", NextAt: moment.Add(time.Hour),
	}
}

func insertWebhooks(t *testing.T, store storage.Store, webhooks ...storage.Webhook) {
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

func wantWebhooks(t *testing.T, store storage.Store, want ...storage.Webhook) {
	t.Helper()
	transact(t, store, func(tx storage.Tx) error {
		got, err := tx.Webhooks(t.Context())
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("webhooks differ:\n%s", diff)
		}
		return err
	})
}

func testWebhooks(t *testing.T, fresh Fresh) {
	store := opened(t, fresh(t))
	all, none := aWebhook("https://one.example/events"), aWebhook("https://two.example/events")
	none.Settings.Events = []events.Type{}
	insertWebhooks(t, store, all, none)
	wantWebhooks(t, store, all, none)

	all.Settings = storage.WebhookSettings{URL: "https://three.example", Events: []events.Type{events.Notification}}
	all.Secrets, all.Generation = []byte("sealed anew"), "g2"
	all.Health = events.Health{Disabled: true, Failures: 7, ClosedUntil: moment}
	transact(t, store, func(tx storage.Tx) error {
		locked, err := tx.LockWebhook(t.Context(), all.ID)
		if err == nil && locked.Settings.URL != "https://one.example/events" {
			t.Errorf("locked %+v", locked)
		}
		return errors.Join(err, tx.UpdateWebhook(t.Context(), all))
	})
	wantWebhooks(t, store, all, none)
	none.Health = events.Health{Failures: 2}
	transact(t, store, func(tx storage.Tx) error {
		return errors.Join(tx.UpdateWebhookHealth(t.Context(), none.ID, none.Health),
			tx.UpdateWebhookHealth(t.Context(), uuid.NewString(), none.Health), tx.DeleteWebhook(t.Context(), all.ID))
	})
	wantWebhooks(t, store, none)
	for name, read := range map[string]func(storage.Tx) error{
		"Webhook":       func(tx storage.Tx) error { _, err := tx.Webhook(t.Context(), all.ID); return err },
		"LockWebhook":   func(tx storage.Tx) error { _, err := tx.LockWebhook(t.Context(), all.ID); return err },
		"DeleteWebhook": func(tx storage.Tx) error { return tx.DeleteWebhook(t.Context(), all.ID) },
		"WebhookAttempt": func(tx storage.Tx) error {
			_, err := tx.WebhookAttempt(t.Context(), none.ID, uuid.NewString())
			return err
		},
		"WebhookAttempts": func(tx storage.Tx) error { _, _, err := tx.WebhookAttempts(t.Context(), all.ID, 0, 1); return err },
	} {
		if err := store.Transact(t.Context(), read); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s of what is gone: got %v, want storage.ErrNotFound", name, err)
		}
	}
}

func testWebhookAttempts(t *testing.T, fresh Fresh) {
	store := opened(t, fresh(t))
	one, other, gone := aWebhook("https://one.example"), aWebhook("https://two.example"), aWebhook("https://three.example")
	insertWebhooks(t, store, one, other)
	first, second, third := anAttempt(one, 1), anAttempt(one, 2), anAttempt(one, 3)
	third.Status, third.Error, third.NextAt = 200, "", time.Time{}
	elsewhere := anAttempt(other, 1)
	transact(t, store, func(tx storage.Tx) error {
		return tx.InsertWebhookAttempts(t.Context(), []storage.WebhookAttempt{first, elsewhere, second, anAttempt(gone, 1), third})
	})
	wantPage := func(skipped, atMost int64, want ...storage.WebhookAttempt) {
		t.Helper()
		transact(t, store, func(tx storage.Tx) error {
			got, total, err := tx.WebhookAttempts(t.Context(), one.ID, skipped, atMost)
			if diff := cmp.Diff(want, got); diff != "" || total != 3 {
				t.Errorf("attempts from %d on, of %d:\n%s", skipped, total, diff)
			}
			return err
		})
	}
	wantPage(0, 2, third, second)
	wantPage(2, 2, first)
	transact(t, store, func(tx storage.Tx) error {
		got, err := tx.WebhookAttempt(t.Context(), one.ID, second.ID)
		if diff := cmp.Diff(second, got); diff != "" {
			t.Errorf("attempt differs:\n%s", diff)
		}
		if _, err := tx.WebhookAttempt(t.Context(), other.ID, second.ID); !errors.Is(err, storage.ErrNotFound) {
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
		got, total, err := tx.WebhookAttempts(t.Context(), one.ID, 0, 10)
		if len(got) != 1 || total != 1 || got[0].ID != third.ID {
			t.Errorf("after erasing the old ones there are %d, %+v", total, got)
		}
		return errors.Join(err, tx.DeleteWebhook(t.Context(), one.ID))
	})
}

func testNotifications(t *testing.T, fresh Fresh) {
	store, _, patient := surveyed(t, fresh(t))
	survey, erased := aSurvey(patient.ID), aSurvey(patient.ID)
	insertSurveys(t, store, survey, erased)
	early, late := moment, moment.Add(time.Hour)
	put := func(id string, at time.Time) {
		transact(t, store, func(tx storage.Tx) error { return tx.PutNotification(t.Context(), id, at) })
	}
	wantTaken := func(what, id string, at time.Time, want bool) {
		t.Helper()
		transact(t, store, func(tx storage.Tx) error {
			taken, err := tx.TakeNotification(t.Context(), id, at)
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

	waiting, err := store.Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].Receiver() != "" || waiting[0].Next.Sub(early).Abs() > time.Millisecond || waiting[0].Jobs != 4 {
		t.Errorf("waiting are %+v, %v; want four jobs from %v on", waiting, err, early)
	}
}

func deliveriesTo(webhook storage.Webhook, ids ...string) []outbox.Delivery {
	deliveries := make([]outbox.Delivery, len(ids))
	for i, id := range ids {
		deliveries[i] = outbox.Delivery{Receiver: webhook.ID, Event: events.Event{ID: id, Type: "ping", Content: json.RawMessage(`{}`)}}
	}
	return deliveries
}

// errUndone undoes a transaction.
var errUndone = errors.New("undone")

// What is put into the outbox is there if and only if its transaction is committed.
func testOutbox(t *testing.T, fresh Fresh) {
	store := opened(t, fresh(t))
	one, other := aWebhook("https://one.example"), aWebhook("https://two.example")
	insertWebhooks(t, store, one, other)
	err := store.Transact(t.Context(), func(tx storage.Tx) error {
		return errors.Join(tx.Enqueue(t.Context(), deliveriesTo(one, "e0")), errUndone)
	})
	if !errors.Is(err, errUndone) {
		t.Fatal(err)
	}
	transact(t, store, func(tx storage.Tx) error {
		return errors.Join(tx.Enqueue(t.Context(), nil), tx.Enqueue(t.Context(), deliveriesTo(one, "e1", "e2")),
			tx.Enqueue(t.Context(), deliveriesTo(other, "e3")))
	})
	jobs := func() map[string]int64 {
		t.Helper()
		waiting, err := store.Waiting(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int64{}
		for _, w := range waiting {
			counts[w.Receiver()] = w.Jobs
			if since := time.Since(w.Next); since < -time.Second || since > time.Minute || w.Running != 0 {
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
			t.Error("nobody was told of what was put in")
		}
	}
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteWebhook(t.Context(), one.ID) })
	if diff := cmp.Diff(map[string]int64{other.ID: 1}, jobs()); diff != "" {
		t.Errorf("jobs differ after their receiver went:\n%s", diff)
	}
}

// Jobs are done as their outcomes say, by a client that is started and stopped again.
func testOutboxIsDone(t *testing.T, fresh Fresh) {
	store, _, patient := surveyed(t, fresh(t))
	survey := aSurvey(patient.ID)
	insertSurveys(t, store, survey)
	one, other := aWebhook("https://one.example"), aWebhook("https://two.example")
	insertWebhooks(t, store, one, other)
	transact(t, store, func(tx storage.Tx) error {
		return errors.Join(tx.Enqueue(t.Context(), deliveriesTo(one, "done", "retried", "postponed", "given up")),
			tx.Enqueue(t.Context(), deliveriesTo(other, "not served")), tx.PutNotification(t.Context(), survey.ID, moment))
	})
	d := newDoer()
	for range 2 { // the second finds nothing that the first did
		d.work(t, store, one.ID)
	}
	want := []string{"done 1", "given up 1", "notification " + survey.ID, "postponed 1", "postponed 1", "retried 1", "retried 2"}
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(d.did()))); diff != "" {
		t.Errorf("what was done differs:\n%s", diff)
	}
	waiting, err := store.Waiting(t.Context())
	if err != nil || len(waiting) != 1 || waiting[0].Receiver() != other.ID {
		t.Errorf("left are %+v, %v; want what is not served", waiting, err)
	}
}
