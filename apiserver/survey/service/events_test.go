// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// subscribe subscribes a receiver to events.
func subscribe(t *testing.T, r *service.Service, kinds ...event.Type) (id string) {
	t.Helper()
	webhook := event.Webhook{ID: uuid.NewString(), Settings: event.WebhookSettings{URL: "https://portal.example", Events: kinds}, EncryptedSecrets: []byte{1}, KeyVersion: "g"}
	err := serviceStore(r).Transact(t.Context(), func(tx storage.Tx) error { return tx.InsertWebhook(t.Context(), webhook) })
	if err != nil {
		t.Fatal(err)
	}
	return webhook.ID
}

// checkDeliveries checks the number of events waiting for a receiver.
func checkDeliveries(t *testing.T, r *service.Service, receiver string, want int64) {
	t.Helper()
	waiting, err := serviceStore(r).QueueStats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := int64(0)
	for _, queue := range waiting {
		if queue.ReceiverID() == receiver {
			got = queue.Jobs
		}
	}
	if got != want {
		t.Errorf("got %d queued events for the receiver, want %d", got, want)
	}
}

// TestCompletionEmitsOneEvent checks that completing a survey publishes exactly one event,
// regardless of which call completes it.
func TestCompletionEmitsOneEvent(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, url string) {
		r := openService(t, url, writeRelease(t))
		all, finished, none := subscribe(t, r), subscribe(t, r, event.SurveyFinished), subscribe(t, r, event.Notification)
		survey := createSurvey(t, r, createPatient(t, r), record.TypeIntake)
		for {
			step, err := r.Current(t.Context(), portal, survey.ID)
			if err != nil {
				t.Fatal(err)
			}
			if step == nil {
				break
			}
			checkDeliveries(t, r, all, 0)
			if err := answerCurrent(r, survey.ID); err != nil {
				t.Fatal(err)
			}
		}
		checkDeliveries(t, r, all, 1)
		checkDeliveries(t, r, finished, 1)
		checkDeliveries(t, r, none, 0)
	})
}

// TestNotificationIsSentOnce checks that a reminder is sent once, at the date set last,
// unless the survey is completed by then.
func TestNotificationIsSentOnce(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, url string) {
		r := openService(t, url, writeRelease(t))
		receiver, patient := subscribe(t, r), createPatient(t, r)
		clock := now
		webhooks := &webhook.Service{Storage: storage.Scope[webhook.Reader, webhook.Tx]{Store: serviceStore(r)}, Now: func() time.Time { return clock }}
		early, late := now.Add(time.Hour), now.Add(2*time.Hour)
		created := func(notification, expiration time.Time) record.Survey {
			t.Helper()
			created, err := r.Create(t.Context(), portal, service.CreateRequest{PatientID: patient.ID, CreateOptions: flow.CreateOptions{
				Type: "intake", NotificationDate: notification, ExpirationDate: expiration,
			}})
			if err != nil {
				t.Fatal(err)
			}
			return created
		}
		reschedule := func(id string, to time.Time) {
			t.Helper()
			if _, err := r.Update(t.Context(), portal, id, service.UpdateRequest{Patch: flow.Patch{NotificationDate: &to}}); err != nil {
				t.Fatal(err)
			}
		}
		notifyAt := func(id string, at time.Time, want int64) {
			t.Helper()
			clock = at
			if err := webhooks.PublishNotification(t.Context(), outbox.Notification{SurveyID: id, DueAt: at}); err != nil {
				t.Fatal(err)
			}
			checkDeliveries(t, r, receiver, want)
		}
		transition := created(early, time.Time{})
		reschedule(transition.ID, late)
		notifyAt(transition.ID, early, 0)
		notifyAt(transition.ID, late, 1)
		notifyAt(transition.ID, late, 1) // delivered, but the server was killed before recording the delivery

		cancelled := created(early, time.Time{})
		reschedule(cancelled.ID, time.Time{})
		notifyAt(cancelled.ID, early, 1)

		expired := created(late, early)
		notifyAt(expired.ID, late, 1)

		deleted := created(early, time.Time{})
		if err := r.Delete(t.Context(), portal, deleted.ID); err != nil {
			t.Fatal(err)
		}
		notifyAt(deleted.ID, early, 1)

		completed := created(early, time.Time{})
		for range 50 {
			if err := answerCurrent(r, completed.ID); err != nil {
				t.Fatal(err)
			}
		}
		checkDeliveries(t, r, receiver, 2) // for its completion
		notifyAt(completed.ID, early, 2)
	})
}
