// SPDX-License-Identifier: Apache-2.0

package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/encryption"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/delivery"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/dispatch"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/event"
)

func TestMain(m *testing.M) {
	runChildProcess()
	os.Exit(postgrestest.Run(m))
}

var portal = audit.Actor{Application: "portal"}

// forEachStorage runs a test on an instance with an empty database, once per storage.
func forEachStorage(t *testing.T, test func(t *testing.T, r *harness)) {
	t.Helper()
	forEachDatabase(t, func(t *testing.T, url string) { test(t, newHarness(t, url)) })
}

// forEachDatabase runs a test on an empty database, once per storage.
func forEachDatabase(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for name, fresh := range map[string]func(testing.TB) string{
		"embedded":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db") },
		"PostgreSQL": func(t testing.TB) string { return postgrestest.NewDatabase(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh(t))
		})
	}
}

// harness is an instance that delivers events to receivers.
type harness struct {
	t            testing.TB
	store        storage.Store
	service      *webhook.Service
	clockSkew    atomic.Int64  // offset of its clock
	timeout      time.Duration // delivery timeout; zero for the server's default
	observer     fakeObserver
	log          syncBuffer
	decryptFails atomic.Bool // makes decrypting secrets fail
}

// syncBuffer is a log that can be read while it is written.
type syncBuffer struct {
	sync.Mutex
	strings.Builder
}

func (l *syncBuffer) Write(line []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Builder.Write(line)
}

func (l *syncBuffer) String() string {
	l.Lock()
	defer l.Unlock()
	return l.Builder.String()
}

// fakeObserver records the observed metrics.
type fakeObserver struct {
	sync.Mutex
	attempts     map[string]int
	openCircuits int
	delay        time.Duration // delay of WebhookAttempted
}

func (o *fakeObserver) WebhookAttempted(outcome string) {
	time.Sleep(o.delay)
	o.Lock()
	defer o.Unlock()
	if o.attempts == nil {
		o.attempts = map[string]int{}
	}
	o.attempts[outcome]++
}

func (o *fakeObserver) OutboxObserved(_ int64, _ time.Duration, resting int) {
	o.Lock()
	defer o.Unlock()
	o.openCircuits = resting
}

func (o *fakeObserver) attemptCount(outcome string) int {
	o.Lock()
	defer o.Unlock()
	return o.attempts[outcome]
}

func newHarness(t testing.TB, url string) *harness {
	t.Helper()
	store, err := open.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := encryption.GenerateKeyring()
	if err != nil {
		t.Fatal(err)
	}
	r := &harness{t: t, store: store}
	r.service = &webhook.Service{Storage: storage.Scope[webhook.Reader, webhook.Tx]{Store: store}, Keyring: keys, Now: r.now, OnChange: func() {}}
	t.Cleanup(func() { _ = store.Close() })
	return r
}

func (r *harness) now() time.Time { return time.Now().Add(time.Duration(r.clockSkew.Load())) }

// decryptSecrets decrypts secrets, or fails if decryptFails is set.
func (r *harness) decryptSecrets(webhook event.Webhook) (event.Secrets, error) {
	if r.decryptFails.Load() {
		return event.Secrets{}, encryption.ErrDecrypt
	}
	return r.service.DecryptSecrets(webhook)
}

// start runs the dispatcher until stop is called or the test ends.
func (r *harness) start() (stop func()) {
	sender := &delivery.Sender{
		Settings: func() delivery.Settings {
			return delivery.Settings{AddressPolicy: delivery.AddressPolicy{AllowLoopback: true, AllowAnyPort: true}}
		},
		Now: time.Now, Timeout: r.timeout,
	}
	d := dispatch.New(dispatch.Options{
		Storage: storage.Scope[dispatch.Reader, dispatch.Tx]{Store: r.store}, Queue: r.store, Sender: sender, DecryptSecrets: r.decryptSecrets, PublishNotification: r.service.PublishNotification, Now: r.now,
		Retention: func() time.Duration { return time.Hour }, Observer: &r.observer,
		Log: slog.New(slog.NewTextHandler(&r.log, nil)),
	})
	r.service.OnChange = d.Wake
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.Run(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-ended
		sender.Close()
	})
	r.t.Cleanup(stop)
	return stop
}

// receiver records the events it gets.
type receiver struct {
	sync.Mutex
	url      string
	eventIDs []string // ids of events, including repeated ones
	respond  func(w http.ResponseWriter, told int)
}

func newReceiver(t testing.TB, reply func(w http.ResponseWriter, told int)) *receiver {
	t.Helper()
	told := &receiver{respond: reply}
	server := httptest.NewServer(told)
	t.Cleanup(server.Close)
	told.url = server.URL
	return told
}

// ServeHTTP implements http.Handler.
func (e *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	e.Lock()
	e.eventIDs = append(e.eventIDs, r.Header.Get("Webhook-Id"))
	told, reply := len(e.eventIDs), e.respond
	e.Unlock()
	if reply != nil {
		reply(w, told)
	}
}

func (e *receiver) received() []string {
	e.Lock()
	defer e.Unlock()
	return slices.Clone(e.eventIDs)
}

func respondWith(statuses ...int) func(http.ResponseWriter, int) {
	return func(w http.ResponseWriter, told int) { w.WriteHeader(statuses[min(told, len(statuses))-1]) }
}

// subscribe creates a webhook for a receiver.
func (r *harness) subscribe(e *receiver) (id string) {
	r.t.Helper()
	token := "the-token"
	made, err := r.service.Create(r.t.Context(), portal, webhook.Settings{URL: &e.url, Token: &token})
	if err != nil {
		r.t.Fatal(err)
	}
	return made.ID
}

// finishSurveys completes a number of surveys.
func (r *harness) finishSurveys(many int) {
	r.t.Helper()
	for range many {
		err := r.store.Transact(r.t.Context(), func(tx storage.Tx) error {
			return webhook.Publish(r.t.Context(), tx, event.NewSurveyFinished(uuid.NewString(), uuid.NewString()))
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *harness) attempts(id string) []event.Attempt {
	r.t.Helper()
	attempts, _, err := r.service.ListAttempts(r.t.Context(), id, record.Page{Limit: 50})
	if err != nil {
		r.t.Fatal(err)
	}
	slices.Reverse(attempts)
	return attempts
}

func (r *harness) health(id string) event.ReceiverHealth {
	r.t.Helper()
	var kept event.Webhook
	err := r.store.Transact(r.t.Context(), func(tx storage.Tx) (err error) {
		kept, err = tx.GetWebhook(r.t.Context(), id)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return kept.Health
}

// eventually waits until an asynchronous condition is met.
func eventually(t testing.TB, what string, reached func() bool) {
	t.Helper()
	eventuallyWithin(t, 2*time.Minute, what, reached)
}

func eventuallyWithin(t testing.TB, patience time.Duration, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !reached(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not come about that %s", what)
		}
	}
}

func TestEventsAreDelivered(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		r.start()
		one, other := newReceiver(t, nil), newReceiver(t, nil)
		first := r.subscribe(one)
		r.subscribe(other)
		r.finishSurveys(20)
		eventually(t, "both receive every event", func() bool { return len(one.received()) == 20 && len(other.received()) == 20 })
		eventually(t, "it is written down", func() bool { return len(r.attempts(first)) == 20 && r.observer.attemptCount("delivered") == 40 })
		for _, attempt := range r.attempts(first) {
			if attempt.StatusCode != http.StatusOK || attempt.Number != 1 || attempt.Error != "" || !attempt.NextAttemptAt.IsZero() {
				t.Errorf("an attempt is %+v", attempt)
			}
		}
		if text := r.log.String(); strings.Contains(text, "the-token") || strings.Contains(text, one.url) || !strings.Contains(text, "delivered webhook event") {
			t.Errorf("the log says:\n%s", text)
		}
	})
}

// TestFailedDeliveryIsRetried checks that a failed event is retried with the same id,
// and that other events are delivered meanwhile.
func TestFailedDeliveryIsRetried(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		r.start()
		e := newReceiver(t, respondWith(500, 200))
		id := r.subscribe(e)
		r.finishSurveys(1)
		eventually(t, "the event is delivered twice", func() bool { return len(e.received()) == 2 })
		eventually(t, "it is written down", func() bool { return len(r.attempts(id)) == 2 })
		attempts := r.attempts(id)
		if ids := e.received(); ids[0] != ids[1] {
			t.Errorf("the ids are %v", ids)
		}
		pause := attempts[0].NextAttemptAt.Sub(attempts[0].At)
		if attempts[0].StatusCode != http.StatusInternalServerError || attempts[0].Error == "" || pause < 5*time.Second || pause > 7*time.Second || attempts[1].Number != 2 {
			t.Errorf("the attempts are %+v", attempts)
		}
		if is := r.health(id); is != (event.ReceiverHealth{}) {
			t.Errorf("it does %+v", is)
		}
	})
}

// TestSlowReceiverDoesNotBlockOthers checks that hanging and unreachable receivers do
// not block others.
func TestSlowReceiverDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		r.start()
		hangs := r.subscribe(newHangingReceiver(t))
		r.subscribe(newReceiver(t, respondWith(500)))
		well := newReceiver(t, nil)
		r.subscribe(well)
		r.finishSurveys(12)
		eventually(t, "the healthy receiver gets every event", func() bool { return len(well.received()) == 12 })
		if ended := len(r.attempts(hangs)); ended > 0 {
			t.Errorf("the one that is well had to wait for %d deliveries to the one that hangs", ended)
		}
	})
}

// newHangingReceiver returns a receiver that does not respond before the test ends.
func newHangingReceiver(t testing.TB) *receiver {
	t.Helper()
	release := make(chan struct{})
	hanging := newReceiver(t, func(http.ResponseWriter, int) { <-release })
	t.Cleanup(func() { close(release) })
	return hanging
}

// TestCircuitOpensForFailingReceivers checks that the circuit opens for hanging and
// unreachable receivers.
func TestCircuitOpensForFailingReceivers(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		r.timeout = time.Second
		r.start()
		down := newReceiver(t, respondWith(500))
		hangs, fails := r.subscribe(newHangingReceiver(t)), r.subscribe(down)
		r.finishSurveys(40)
		eventually(t, "both are left alone", func() bool {
			return r.health(hangs).Status() == event.StatusFailing && r.health(fails).Status() == event.StatusFailing
		})
		eventually(t, "that is seen", func() bool {
			r.observer.Lock()
			defer r.observer.Unlock()
			return r.observer.openCircuits == 2
		})
		told := len(down.received())
		time.Sleep(500 * time.Millisecond)
		if again := len(down.received()); again != told || told == 40 {
			t.Errorf("a receiver with an open circuit got %d events, then %d", told, again)
		}
	})
}

// TestRecoveredReceiverGetsMissedEvents checks that a recovered receiver gets all missed
// events, and that an open circuit uses up no attempts.
func TestRecoveredReceiverGetsMissedEvents(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		r.start()
		e := newReceiver(t, respondWith(500))
		id := r.subscribe(e)
		r.finishSurveys(30)
		eventually(t, "it is left alone", func() bool { return r.health(id).Status() == event.StatusFailing })
		e.Lock()
		e.respond = nil
		e.Unlock()
		r.clockSkew.Store(int64(time.Minute)) // the cooldown has passed
		r.service.OnChange()
		distinct := func() int {
			ids := e.received()
			slices.Sort(ids)
			return len(slices.Compact(ids))
		}
		eventually(t, "the receiver gets every event", func() bool { return distinct() == 30 })
		eventually(t, "it is well", func() bool { return r.health(id) == event.ReceiverHealth{} })
		for _, attempt := range r.attempts(id) {
			if attempt.Number > 2 {
				t.Errorf("an attempt was the %dth", attempt.Number)
			}
		}
	})
}

// TestGoneDisablesReceiver checks that a receiver answering 410 gets no more events.
func TestGoneDisablesReceiver(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		r.start()
		e := newReceiver(t, respondWith(http.StatusGone))
		id := r.subscribe(e)
		r.finishSurveys(1)
		eventually(t, "it is disabled", func() bool { return r.health(id).Disabled })
		told := len(e.received())
		r.finishSurveys(5)
		time.Sleep(200 * time.Millisecond)
		if again := len(e.received()); again != told {
			t.Errorf("the disabled receiver got %d more events", again-told)
		}
		back := newReceiver(t, nil)
		if _, err := r.service.Update(t.Context(), portal, id, webhook.Settings{URL: &back.url}); err != nil {
			t.Fatal(err)
		}
		r.finishSurveys(1)
		eventually(t, "the receiver gets events at another address", func() bool { return len(back.received()) == 1 })
	})
}

// TestGoneAttemptIsRecorded checks that the attempt answered with 410 is recorded
// although it cancels deliveries to the receiver.
func TestGoneAttemptIsRecorded(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		r.observer.delay = 20 * time.Millisecond // the deliveries have been canceled by then
		r.start()
		var ids []string
		for range 10 {
			ids = append(ids, r.subscribe(newReceiver(t, respondWith(http.StatusGone))))
		}
		r.finishSurveys(1)
		eventually(t, "all are disabled", func() bool {
			return !slices.ContainsFunc(ids, func(id string) bool { return !r.health(id).Disabled })
		})
	})
}

// TestDeletedReceiverGetsNothing checks that deleting a webhook also cancels deliveries
// in flight.
func TestDeletedReceiverGetsNothing(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		r.start()
		began, release := make(chan struct{}, 100), make(chan struct{})
		e := newReceiver(t, func(http.ResponseWriter, int) {
			began <- struct{}{}
			<-release
		})
		t.Cleanup(func() { close(release) })
		id := r.subscribe(e)
		r.finishSurveys(30)
		<-began
		if _, err := r.service.Delete(t.Context(), portal, id); err != nil {
			t.Fatal(err)
		}
		eventually(t, "nothing is left", func() bool {
			waiting, err := r.store.QueueStats(t.Context())
			return err == nil && len(waiting) == 0
		})
		if told := len(e.received()); told > 8 {
			t.Errorf("the receiver got %d events", told)
		}
	})
}

// TestPendingDeliveriesSurviveRestart checks that the next server delivers pending
// events, immediately with embedded storage.
func TestPendingDeliveriesSurviveRestart(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		e := newReceiver(t, nil)
		r.subscribe(e)
		r.finishSurveys(10)
		stop := r.start()
		eventually(t, "the receiver gets an event", func() bool { return len(e.received()) > 0 })
		stop()
		r.finishSurveys(10)
		r.start()
		eventually(t, "the receiver gets every event", func() bool { return len(slices.Compact(slices.Sorted(slices.Values(e.received())))) == 20 })
	})
}

// TestNotificationAfterDowntime checks that a notification that became due during
// downtime is sent by the next server.
func TestNotificationAfterDowntime(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		e := newReceiver(t, nil)
		id := r.subscribe(e)
		due := time.Now().Add(-time.Hour)
		user := record.EncryptedUser{ID: uuid.NewString(), EncryptedContact: []byte{1}, KeyVersion: "g", CreatedAt: due}
		patient := record.Patient{ID: uuid.NewString(), UserID: user.ID, CreatedAt: due}
		survey := record.Survey{ID: uuid.NewString(), PatientID: patient.ID, Type: record.TypeTriage, Status: record.StatusNew, Version: 1, NotificationDate: due}
		err := r.store.Transact(t.Context(), func(tx storage.Tx) error {
			return errors.Join(tx.InsertUser(t.Context(), user, nil), tx.InsertPatient(t.Context(), patient),
				tx.InsertSurvey(t.Context(), survey), webhook.ScheduleNotification(t.Context(), tx, survey))
		})
		if err != nil {
			t.Fatal(err)
		}
		r.start()
		eventually(t, "the event is delivered", func() bool { return len(r.attempts(id)) == 1 })
		want := event.NewNotification("", survey.ID, user.ID).Body()
		if got := r.attempts(id)[0].Event.Body(); string(got) != string(want) {
			t.Errorf("told is %s, want %s", got, want)
		}
	})
}

// TestReplicasDeliverEachEventOnce checks that two replicas deliver each event to each
// receiver once, and both stop sending to a failing receiver.
func TestReplicasDeliverEachEventOnce(t *testing.T) {
	t.Parallel()
	url := postgrestest.NewDatabase(t)
	one, other := newHarness(t, url), newHarness(t, url)
	other.service.Keyring = one.service.Keyring
	one.start()
	other.start()
	well, down := newReceiver(t, nil), newReceiver(t, respondWith(500))
	one.subscribe(well)
	fails := other.subscribe(down)
	one.finishSurveys(30)
	other.finishSurveys(30)
	eventually(t, "the receiver gets every event", func() bool { return len(well.received()) >= 60 })
	eventually(t, "the other is left alone", func() bool { return one.health(fails).Status() == event.StatusFailing })
	time.Sleep(4 * time.Second) // by then both replicas have polled
	told := len(down.received())
	time.Sleep(time.Second)
	if again := len(down.received()); again != told {
		t.Errorf("a receiver with an open circuit got %d more events", again-told)
	}
	if ids := well.received(); len(ids) != 60 || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 60 {
		t.Errorf("60 events were delivered %d times", len(ids))
	}
}

// TestOldAttemptsArePurged checks that expired attempts are deleted.
func TestOldAttemptsArePurged(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		e := newReceiver(t, nil)
		id := r.subscribe(e)
		old := event.Attempt{ID: uuid.NewString(), WebhookID: id, At: time.Now().Add(-2 * time.Hour), Event: event.NewPing("e"), Number: 1}
		young := old
		young.ID, young.At = uuid.NewString(), time.Now()
		err := r.store.Transact(t.Context(), func(tx storage.Tx) error {
			return tx.InsertWebhookAttempts(t.Context(), []event.Attempt{old, young})
		})
		if err != nil {
			t.Fatal(err)
		}
		r.start()
		eventually(t, "the old one is gone", func() bool { return len(r.attempts(id)) == 1 })
		if left := r.attempts(id); left[0].ID != young.ID {
			t.Errorf("left is %+v", left)
		}
	})
}

// TestUndecryptableSecretsDoNotBlockOthers checks that secrets that cannot be decrypted
// are logged and do not block other receivers.
func TestUndecryptableSecretsDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		r.start()
		well := newReceiver(t, nil)
		broken := event.Webhook{ID: uuid.NewString(), Settings: event.WebhookSettings{URL: well.url}, EncryptedSecrets: []byte("x"), KeyVersion: "g"}
		err := r.store.Transact(t.Context(), func(tx storage.Tx) error { return tx.InsertWebhook(t.Context(), broken) })
		if err != nil {
			t.Fatal(err)
		}
		r.subscribe(well)
		r.finishSurveys(1)
		eventually(t, "the other receiver gets the event", func() bool { return len(well.received()) == 1 })
		eventually(t, "the error is logged", func() bool { return strings.Contains(r.log.String(), broken.ID) })
	})
}

// TestTemporarilyUndecryptableSecretsLoseNoDeliveries checks that pending deliveries
// survive while secrets cannot be decrypted, for example because a replica loads new
// keys late.
func TestTemporarilyUndecryptableSecretsLoseNoDeliveries(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, r *harness) {
		r.start()
		var hangs atomic.Bool
		hangs.Store(true)
		release := make(chan struct{})
		e := newReceiver(t, func(w http.ResponseWriter, _ int) {
			if hangs.Load() {
				<-release
			}
		})
		t.Cleanup(func() { close(release) })
		r.subscribe(e)
		r.finishSurveys(20)
		eventually(t, "some are under way", func() bool { return len(e.received()) >= 4 })
		r.decryptFails.Store(true)
		r.service.OnChange()
		eventually(t, "the error is logged", func() bool { return strings.Contains(r.log.String(), "decrypting secrets") })
		hangs.Store(false)
		r.decryptFails.Store(false)
		r.service.OnChange()
		eventually(t, "the receiver gets every event", func() bool { return r.observer.attemptCount("delivered") == 20 })
	})
}

// TestRunStopsWithoutStorage checks that the dispatcher stops in time while storage is
// down.
func TestRunStopsWithoutStorage(t *testing.T) {
	t.Parallel()
	r := newHarness(t, "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"))
	stop := r.start()
	e := newReceiver(t, nil)
	r.subscribe(e)
	r.finishSurveys(5)
	eventually(t, "the event is delivered", func() bool { return len(e.received()) > 0 })
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all of it saw that", func() bool { return strings.Contains(r.log.String(), "running listener") })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		stop()
	}()
	select {
	case <-ended:
	case <-time.After(40 * time.Second):
		t.Fatal("it did not end")
	}
}

// TestIdleDispatcherDoesNotTouchDatabase checks that an idle embedded instance neither
// reads nor writes the database.
func TestIdleDispatcherDoesNotTouchDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "anamnesis.db")
	r := newHarness(t, "sqlite:"+path)
	r.start()
	e := newReceiver(t, nil)
	r.subscribe(e)
	r.finishSurveys(1)
	eventually(t, "the event is delivered", func() bool { return len(e.received()) == 1 })
	eventually(t, "it falls asleep", func() bool {
		before := fileStats(t, path)
		time.Sleep(3 * time.Second)
		return fileStats(t, path) == before
	})
	r.finishSurveys(1)
	eventually(t, "a commit wakes it", func() bool { return len(e.received()) == 2 })
}

// fileStats returns the modification times and sizes of the database files.
func fileStats(t *testing.T, path string) string {
	t.Helper()
	var text strings.Builder
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(path + suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err == nil {
			fmt.Fprintf(&text, "%d bytes at %v; ", info.Size(), info.ModTime())
		}
	}
	return text.String()
}
