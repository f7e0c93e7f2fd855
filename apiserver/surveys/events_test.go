// SPDX-License-Identifier: Apache-2.0

package surveys_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

// subscribe has a receiver told of events.
func subscribe(t *testing.T, r *surveys.Register, kinds ...events.Type) (id string) {
	t.Helper()
	webhook := storage.Webhook{ID: uuid.NewString(), Settings: storage.WebhookSettings{URL: "https://portal.example", Events: kinds}, Secrets: []byte{1}, Generation: "g"}
	err := r.Storage.Transact(t.Context(), func(tx storage.Tx) error { return tx.InsertWebhook(t.Context(), webhook) })
	if err != nil {
		t.Fatal(err)
	}
	return webhook.ID
}

// wantDeliveries wants so many events to wait for a receiver.
func wantDeliveries(t *testing.T, r *surveys.Register, receiver string, want int64) {
	t.Helper()
	waiting, err := r.Storage.(storage.Jobs).Waiting(t.Context()) //nolint:forcetypeassert // every store has it
	if err != nil {
		t.Fatal(err)
	}
	got := int64(0)
	for _, queue := range waiting {
		if queue.Receiver() == receiver {
			got = queue.Jobs
		}
	}
	if got != want {
		t.Errorf("%d events wait for the receiver, want %d", got, want)
	}
}

// The end of a survey is told of by whoever completes it, once.
func TestEndIsTold(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, url string) {
		r := opened(t, url, shelve(t))
		all, finished, none := subscribe(t, r), subscribe(t, r, events.SurveyFinished), subscribe(t, r, events.Notification)
		survey := begin(t, r, aPatient(t, r), guidance.Intake)
		for {
			step, err := r.Current(t.Context(), portal, survey.ID)
			if err != nil {
				t.Fatal(err)
			}
			if step == nil {
				break
			}
			wantDeliveries(t, r, all, 0)
			if err := answerOnce(r, survey.ID); err != nil {
				t.Fatal(err)
			}
		}
		wantDeliveries(t, r, all, 1)
		wantDeliveries(t, r, finished, 1)
		wantDeliveries(t, r, none, 0)
	})
}

// A notification is given once, at the date that it was moved to last, unless its survey
// is over by then.
func TestNotificationIsGivenOnce(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, url string) {
		r := opened(t, url, shelve(t))
		receiver, patient := subscribe(t, r), aPatient(t, r)
		clock := now
		register := &webhooks.Register{Storage: r.Storage, Now: func() time.Time { return clock }}
		early, late := now.Add(time.Hour), now.Add(2*time.Hour)
		made := func(notification, expiration time.Time) guidance.Survey {
			t.Helper()
			made, err := r.Create(t.Context(), portal, surveys.NewSurvey{PatientID: patient.ID, Creation: survey.Creation{
				Type: "intake", NotificationDate: notification, ExpirationDate: expiration,
			}})
			if err != nil {
				t.Fatal(err)
			}
			return made
		}
		move := func(id string, to time.Time) {
			t.Helper()
			if _, err := r.Change(t.Context(), portal, id, surveys.Change{Patch: survey.Patch{NotificationDate: &to}}); err != nil {
				t.Fatal(err)
			}
		}
		fall := func(id string, at time.Time, want int64) {
			t.Helper()
			clock = at
			if err := register.Notify(t.Context(), outbox.Notification{SurveyID: id, At: at}); err != nil {
				t.Fatal(err)
			}
			wantDeliveries(t, r, receiver, want)
		}
		moved := made(early, time.Time{})
		move(moved.ID, late)
		fall(moved.ID, early, 0)
		fall(moved.ID, late, 1)
		fall(moved.ID, late, 1) // it was given, and the server killed before that was known

		cancelled := made(early, time.Time{})
		move(cancelled.ID, time.Time{})
		fall(cancelled.ID, early, 1)

		expired := made(late, early)
		fall(expired.ID, late, 1)

		deleted := made(early, time.Time{})
		if err := r.Delete(t.Context(), portal, deleted.ID); err != nil {
			t.Fatal(err)
		}
		fall(deleted.ID, early, 1)

		completed := made(early, time.Time{})
		for range 50 {
			if err := answerOnce(r, completed.ID); err != nil {
				t.Fatal(err)
			}
		}
		wantDeliveries(t, r, receiver, 2) // of its end
		fall(completed.ID, early, 2)
	})
}
