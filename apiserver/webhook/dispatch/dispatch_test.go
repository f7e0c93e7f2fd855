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
func forEachStorage(t *testing.T, test func(t *testing.T, h *harness)) {
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
	clockSkew    atomic.Int64  // offset of the instance's clock
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

func (b *syncBuffer) Write(line []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Builder.Write(line)
}

func (b *syncBuffer) String() string {
	b.Lock()
	defer b.Unlock()
	return b.Builder.String()
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

func (o *fakeObserver) OutboxObserved(_ int64, _ time.Duration, openCircuits int) {
	o.Lock()
	defer o.Unlock()
	o.openCircuits = openCircuits
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
	h := &harness{t: t, store: store}
	h.service = &webhook.Service{Storage: storage.Scope[webhook.Reader, webhook.Tx]{Store: store}, Keyring: keys, Now: h.now, OnChange: func() {}}
	t.Cleanup(func() { _ = store.Close() })
	return h
}

func (h *harness) now() time.Time { return time.Now().Add(time.Duration(h.clockSkew.Load())) }

// decryptSecrets decrypts secrets, or fails if decryptFails is set.
func (h *harness) decryptSecrets(webhook event.Webhook) (event.Secrets, error) {
	if h.decryptFails.Load() {
		return event.Secrets{}, encryption.ErrDecrypt
	}
	return h.service.DecryptSecrets(webhook)
}

// start runs the dispatcher until stop is called or the test ends.
func (h *harness) start() (stop func()) {
	sender := &delivery.Sender{
		Settings: func() delivery.Settings {
			return delivery.Settings{AddressPolicy: delivery.AddressPolicy{AllowLoopback: true, AllowAnyPort: true}}
		},
		Now: time.Now, Timeout: h.timeout,
	}
	d := dispatch.New(dispatch.Options{
		Storage: storage.Scope[dispatch.Reader, dispatch.Tx]{Store: h.store}, Queue: h.store, Sender: sender, DecryptSecrets: h.decryptSecrets, PublishNotification: h.service.PublishNotification, Now: h.now,
		Retention: func() time.Duration { return time.Hour }, Observer: &h.observer,
		Log: slog.New(slog.NewTextHandler(&h.log, nil)),
	})
	h.service.OnChange = d.Wake
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		d.Run(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-stopped
		sender.Close()
	})
	h.t.Cleanup(stop)
	return stop
}

// receiver records the events it gets.
type receiver struct {
	sync.Mutex
	url      string
	eventIDs []string // ids of events, including repeated ones
	respond  func(w http.ResponseWriter, count int)
}

func newReceiver(t testing.TB, respond func(w http.ResponseWriter, count int)) *receiver {
	t.Helper()
	r := &receiver{respond: respond}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// ServeHTTP implements http.Handler.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	_, _ = io.Copy(io.Discard, request.Body)
	r.Lock()
	r.eventIDs = append(r.eventIDs, request.Header.Get("Webhook-Id"))
	count, respond := len(r.eventIDs), r.respond
	r.Unlock()
	if respond != nil {
		respond(w, count)
	}
}

func (r *receiver) received() []string {
	r.Lock()
	defer r.Unlock()
	return slices.Clone(r.eventIDs)
}

func respondWith(statuses ...int) func(http.ResponseWriter, int) {
	return func(w http.ResponseWriter, count int) { w.WriteHeader(statuses[min(count, len(statuses))-1]) }
}

// subscribe creates a webhook for a receiver.
func (h *harness) subscribe(e *receiver) (id string) {
	h.t.Helper()
	token := "the-token"
	created, err := h.service.Create(h.t.Context(), portal, webhook.Settings{URL: &e.url, Token: &token})
	if err != nil {
		h.t.Fatal(err)
	}
	return created.ID
}

// finishSurveys completes a number of surveys.
func (h *harness) finishSurveys(count int) {
	h.t.Helper()
	for range count {
		err := h.store.Transact(h.t.Context(), func(tx storage.Tx) error {
			return webhook.Publish(h.t.Context(), tx, event.NewSurveyFinished(uuid.NewString(), uuid.NewString()))
		})
		if err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *harness) attempts(id string) []event.Attempt {
	h.t.Helper()
	attempts, _, err := h.service.ListAttempts(h.t.Context(), id, record.Page{Limit: 50})
	if err != nil {
		h.t.Fatal(err)
	}
	slices.Reverse(attempts)
	return attempts
}

func (h *harness) health(id string) event.ReceiverHealth {
	h.t.Helper()
	var stored event.Webhook
	err := h.store.Transact(h.t.Context(), func(tx storage.Tx) (err error) {
		stored, err = tx.GetWebhook(h.t.Context(), id)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return stored.Health
}

// eventually waits until a condition is met.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	eventuallyWithin(t, 2*time.Minute, what, condition)
}

func eventuallyWithin(t testing.TB, timeout time.Duration, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(timeout); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

func TestEventsAreDelivered(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, h *harness) {
		h.start()
		first, second := newReceiver(t, nil), newReceiver(t, nil)
		id := h.subscribe(first)
		h.subscribe(second)
		h.finishSurveys(20)
		eventually(t, "both receive every event", func() bool { return len(first.received()) == 20 && len(second.received()) == 20 })
		eventually(t, "the attempts are recorded", func() bool { return len(h.attempts(id)) == 20 && h.observer.attemptCount("delivered") == 40 })
		for _, attempt := range h.attempts(id) {
			if attempt.StatusCode != http.StatusOK || attempt.Number != 1 || attempt.Error != "" || !attempt.NextAttemptAt.IsZero() {
				t.Errorf("got attempt %+v", attempt)
			}
		}
		if text := h.log.String(); strings.Contains(text, "the-token") || strings.Contains(text, first.url) || !strings.Contains(text, "delivered webhook event") {
			t.Errorf("unexpected log:\n%s", text)
		}
	})
}

// TestFailedDeliveryIsRetried checks that a failed event is retried with the same id,
// and that other events are delivered meanwhile.
func TestFailedDeliveryIsRetried(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, h *harness) {
		h.start()
		e := newReceiver(t, respondWith(500, 200))
		id := h.subscribe(e)
		h.finishSurveys(1)
		eventually(t, "the event is delivered twice", func() bool { return len(e.received()) == 2 })
		eventually(t, "the attempts are recorded", func() bool { return len(h.attempts(id)) == 2 })
		attempts := h.attempts(id)
		if ids := e.received(); ids[0] != ids[1] {
			t.Errorf("got event ids %v, want the same id twice", ids)
		}
		pause := attempts[0].NextAttemptAt.Sub(attempts[0].At)
		if attempts[0].StatusCode != http.StatusInternalServerError || attempts[0].Error == "" || pause < 5*time.Second || pause > 7*time.Second || attempts[1].Number != 2 {
			t.Errorf("got attempts %+v", attempts)
		}
		if health := h.health(id); health != (event.ReceiverHealth{}) {
			t.Errorf("got health %+v, want zero", health)
		}
	})
}

// TestSlowReceiverDoesNotBlockOthers checks that hanging and unreachable receivers do
// not block others.
func TestSlowReceiverDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, h *harness) {
		h.start()
		hanging := h.subscribe(newHangingReceiver(t))
		h.subscribe(newReceiver(t, respondWith(500)))
		healthy := newReceiver(t, nil)
		h.subscribe(healthy)
		h.finishSurveys(12)
		eventually(t, "the healthy receiver gets every event", func() bool { return len(healthy.received()) == 12 })
		if stopped := len(h.attempts(hanging)); stopped > 0 {
			t.Errorf("healthy receiver waited for %d deliveries to the hanging receiver", stopped)
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
	forEachStorage(t, func(t *testing.T, h *harness) {
		h.timeout = time.Second
		h.start()
		down := newReceiver(t, respondWith(500))
		hanging, fails := h.subscribe(newHangingReceiver(t)), h.subscribe(down)
		h.finishSurveys(40)
		eventually(t, "both circuits are open", func() bool {
			return h.health(hanging).Status() == event.StatusFailing && h.health(fails).Status() == event.StatusFailing
		})
		eventually(t, "the observer is notified", func() bool {
			h.observer.Lock()
			defer h.observer.Unlock()
			return h.observer.openCircuits == 2
		})
		before := len(down.received())
		time.Sleep(500 * time.Millisecond)
		if after := len(down.received()); after != before || before == 40 {
			t.Errorf("receiver with an open circuit got %d events, then %d", before, after)
		}
	})
}

// TestRecoveredReceiverGetsMissedEvents checks that a recovered receiver gets all missed
// events, and that an open circuit uses up no attempts.
func TestRecoveredReceiverGetsMissedEvents(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, h *harness) {
		h.start()
		e := newReceiver(t, respondWith(500))
		id := h.subscribe(e)
		h.finishSurveys(30)
		eventually(t, "the circuit is open", func() bool { return h.health(id).Status() == event.StatusFailing })
		e.Lock()
		e.respond = nil
		e.Unlock()
		h.clockSkew.Store(int64(time.Minute)) // skip the cooldown
		h.service.OnChange()
		distinct := func() int {
			ids := e.received()
			slices.Sort(ids)
			return len(slices.Compact(ids))
		}
		eventually(t, "the receiver gets every event", func() bool { return distinct() == 30 })
		eventually(t, "the receiver is healthy", func() bool { return h.health(id) == event.ReceiverHealth{} })
		for _, attempt := range h.attempts(id) {
			if attempt.Number > 2 {
				t.Errorf("got attempt number %d, want at most 2", attempt.Number)
			}
		}
	})
}

// TestGoneDisablesReceiver checks that a receiver that responds with 410 gets no more
// events.
func TestGoneDisablesReceiver(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, h *harness) {
		h.start()
		e := newReceiver(t, respondWith(http.StatusGone))
		id := h.subscribe(e)
		h.finishSurveys(1)
		eventually(t, "the receiver is disabled", func() bool { return h.health(id).Disabled })
		before := len(e.received())
		h.finishSurveys(5)
		time.Sleep(200 * time.Millisecond)
		if after := len(e.received()); after != before {
			t.Errorf("disabled receiver got %d more events", after-before)
		}
		back := newReceiver(t, nil)
		if _, err := h.service.Update(t.Context(), portal, id, webhook.Settings{URL: &back.url}); err != nil {
			t.Fatal(err)
		}
		h.finishSurveys(1)
		eventually(t, "the receiver gets events at another address", func() bool { return len(back.received()) == 1 })
	})
}

// TestGoneAttemptIsRecorded checks that the attempt with a 410 response is recorded
// although it cancels the deliveries to the receiver.
func TestGoneAttemptIsRecorded(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, h *harness) {
		h.observer.delay = 20 * time.Millisecond // the deliveries have been canceled by then
		h.start()
		var ids []string
		for range 10 {
			ids = append(ids, h.subscribe(newReceiver(t, respondWith(http.StatusGone))))
		}
		h.finishSurveys(1)
		eventually(t, "all receivers are disabled", func() bool {
			return !slices.ContainsFunc(ids, func(id string) bool { return !h.health(id).Disabled })
		})
	})
}

// TestDeletedReceiverGetsNothing checks that deleting a webhook also cancels deliveries
// in flight.
func TestDeletedReceiverGetsNothing(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, h *harness) {
		h.start()
		started, release := make(chan struct{}, 100), make(chan struct{})
		e := newReceiver(t, func(http.ResponseWriter, int) {
			started <- struct{}{}
			<-release
		})
		t.Cleanup(func() { close(release) })
		id := h.subscribe(e)
		h.finishSurveys(30)
		<-started
		if _, err := h.service.Delete(t.Context(), portal, id); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the queues are empty", func() bool {
			queues, err := h.store.QueueStats(t.Context())
			return err == nil && len(queues) == 0
		})
		if count := len(e.received()); count > 8 {
			t.Errorf("receiver got %d events, want at most 8", count)
		}
	})
}

// TestPendingDeliveriesSurviveRestart checks that pending events are delivered after a
// restart; with embedded storage, immediately after it.
func TestPendingDeliveriesSurviveRestart(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, h *harness) {
		e := newReceiver(t, nil)
		h.subscribe(e)
		h.finishSurveys(10)
		stop := h.start()
		eventually(t, "the receiver gets an event", func() bool { return len(e.received()) > 0 })
		stop()
		h.finishSurveys(10)
		h.start()
		eventually(t, "the receiver gets every event", func() bool { return len(slices.Compact(slices.Sorted(slices.Values(e.received())))) == 20 })
	})
}

// TestNotificationAfterDowntime checks that a notification that became due during
// downtime is sent by the next server.
func TestNotificationAfterDowntime(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, h *harness) {
		e := newReceiver(t, nil)
		id := h.subscribe(e)
		due := time.Now().Add(-time.Hour)
		user := record.EncryptedUser{ID: uuid.NewString(), EncryptedContact: []byte{1}, KeyVersion: "g", CreatedAt: due}
		patient := record.Patient{ID: uuid.NewString(), UserID: user.ID, CreatedAt: due}
		survey := record.Survey{ID: uuid.NewString(), PatientID: patient.ID, Type: record.TypeTriage, Status: record.StatusNew, Version: 1, NotificationDate: due}
		err := h.store.Transact(t.Context(), func(tx storage.Tx) error {
			return errors.Join(tx.InsertUser(t.Context(), user, nil), tx.InsertPatient(t.Context(), patient),
				tx.InsertSurvey(t.Context(), survey), webhook.ScheduleNotification(t.Context(), tx, survey))
		})
		if err != nil {
			t.Fatal(err)
		}
		h.start()
		eventually(t, "the event is delivered", func() bool { return len(h.attempts(id)) == 1 })
		want := event.NewNotification("", survey.ID, user.ID).Body()
		if got := h.attempts(id)[0].Event.Body(); string(got) != string(want) {
			t.Errorf("got event %s, want %s", got, want)
		}
	})
}

// TestReplicasDeliverEachEventOnce checks that two replicas deliver each event to each
// receiver once, and both stop sending to a failing receiver.
func TestReplicasDeliverEachEventOnce(t *testing.T) {
	t.Parallel()
	url := postgrestest.NewDatabase(t)
	first, second := newHarness(t, url), newHarness(t, url)
	second.service.Keyring = first.service.Keyring
	first.start()
	second.start()
	healthy, down := newReceiver(t, nil), newReceiver(t, respondWith(500))
	first.subscribe(healthy)
	failing := second.subscribe(down)
	first.finishSurveys(30)
	second.finishSurveys(30)
	eventually(t, "the receiver gets every event", func() bool { return len(healthy.received()) >= 60 })
	eventually(t, "the circuit is open", func() bool { return first.health(failing).Status() == event.StatusFailing })
	time.Sleep(4 * time.Second) // until both replicas have polled
	before := len(down.received())
	time.Sleep(time.Second)
	if after := len(down.received()); after != before {
		t.Errorf("receiver with an open circuit got %d more events", after-before)
	}
	if ids := healthy.received(); len(ids) != 60 || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 60 {
		t.Errorf("60 events were delivered %d times", len(ids))
	}
}

// TestOldAttemptsArePurged checks that expired attempts are deleted.
func TestOldAttemptsArePurged(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, h *harness) {
		e := newReceiver(t, nil)
		id := h.subscribe(e)
		old := event.Attempt{ID: uuid.NewString(), WebhookID: id, At: time.Now().Add(-2 * time.Hour), Event: event.NewPing("e"), Number: 1}
		recent := old
		recent.ID, recent.At = uuid.NewString(), time.Now()
		err := h.store.Transact(t.Context(), func(tx storage.Tx) error {
			return tx.InsertWebhookAttempts(t.Context(), []event.Attempt{old, recent})
		})
		if err != nil {
			t.Fatal(err)
		}
		h.start()
		eventually(t, "the old attempt is deleted", func() bool { return len(h.attempts(id)) == 1 })
		if remaining := h.attempts(id); remaining[0].ID != recent.ID {
			t.Errorf("got attempts %+v, want only the recent one", remaining)
		}
	})
}

// TestUndecryptableSecretsDoNotBlockOthers checks that secrets that cannot be decrypted
// are logged and do not block other receivers.
func TestUndecryptableSecretsDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, h *harness) {
		h.start()
		healthy := newReceiver(t, nil)
		broken := event.Webhook{ID: uuid.NewString(), Settings: event.WebhookSettings{URL: healthy.url}, EncryptedSecrets: []byte("x"), KeyVersion: "g"}
		err := h.store.Transact(t.Context(), func(tx storage.Tx) error { return tx.InsertWebhook(t.Context(), broken) })
		if err != nil {
			t.Fatal(err)
		}
		h.subscribe(healthy)
		h.finishSurveys(1)
		eventually(t, "the other receiver gets the event", func() bool { return len(healthy.received()) == 1 })
		eventually(t, "the error is logged", func() bool { return strings.Contains(h.log.String(), broken.ID) })
	})
}

// TestTemporarilyUndecryptableSecretsLoseNoDeliveries checks that pending deliveries
// survive while secrets cannot be decrypted, for example because a replica loads new
// keys late.
func TestTemporarilyUndecryptableSecretsLoseNoDeliveries(t *testing.T) {
	t.Parallel()
	forEachStorage(t, func(t *testing.T, h *harness) {
		h.start()
		var hanging atomic.Bool
		hanging.Store(true)
		release := make(chan struct{})
		e := newReceiver(t, func(w http.ResponseWriter, _ int) {
			if hanging.Load() {
				<-release
			}
		})
		t.Cleanup(func() { close(release) })
		h.subscribe(e)
		h.finishSurveys(20)
		eventually(t, "some deliveries are in flight", func() bool { return len(e.received()) >= 4 })
		h.decryptFails.Store(true)
		h.service.OnChange()
		eventually(t, "the error is logged", func() bool { return strings.Contains(h.log.String(), "decrypting secrets") })
		hanging.Store(false)
		h.decryptFails.Store(false)
		h.service.OnChange()
		eventually(t, "the receiver gets every event", func() bool { return h.observer.attemptCount("delivered") == 20 })
	})
}

// TestRunStopsWithoutStorage checks that the dispatcher stops in time while storage is
// down.
func TestRunStopsWithoutStorage(t *testing.T) {
	t.Parallel()
	h := newHarness(t, "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"))
	stop := h.start()
	e := newReceiver(t, nil)
	h.subscribe(e)
	h.finishSurveys(5)
	eventually(t, "the event is delivered", func() bool { return len(e.received()) > 0 })
	if err := h.store.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the listener has failed", func() bool { return strings.Contains(h.log.String(), "running listener") })
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop()
	}()
	select {
	case <-stopped:
	case <-time.After(40 * time.Second):
		t.Fatal("dispatcher did not stop within 40 seconds")
	}
}

// TestIdleDispatcherDoesNotTouchDatabase checks that an idle embedded instance neither
// reads nor writes the database.
func TestIdleDispatcherDoesNotTouchDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "anamnesis.db")
	h := newHarness(t, "sqlite:"+path)
	h.start()
	e := newReceiver(t, nil)
	h.subscribe(e)
	h.finishSurveys(1)
	eventually(t, "the event is delivered", func() bool { return len(e.received()) == 1 })
	eventually(t, "the database is idle", func() bool {
		before := fileStats(t, path)
		time.Sleep(3 * time.Second)
		return fileStats(t, path) == before
	})
	h.finishSurveys(1)
	eventually(t, "a commit wakes the dispatcher", func() bool { return len(e.received()) == 2 })
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
