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

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/events"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/deliver"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/dispatch"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/sealing"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhooks"
)

func TestMain(m *testing.M) {
	child()
	os.Exit(postgrestest.Run(m))
}

var portal = audit.Actor{Application: "portal"}

// eachStorage runs a test on an instance with an empty database of each kind.
func eachStorage(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	eachStorageURL(t, func(t *testing.T, url string) { test(t, newRig(t, url)) })
}

// eachStorageURL runs a test on an empty database of each kind.
func eachStorageURL(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for name, fresh := range map[string]func(testing.TB) string{
		"embedded":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db") },
		"PostgreSQL": func(t testing.TB) string { return postgrestest.Database(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh(t))
		})
	}
}

// A rig is an instance that tells receivers of events.
type rig struct {
	t        testing.TB
	store    storage.Store
	register *webhooks.Register
	skew     atomic.Int64  // by how much its clock is ahead
	patience time.Duration // with receivers; zero for a server's
	seen     observed
	log      logged
	sealed   atomic.Bool // says that secrets cannot be opened now
}

// logged is a log that is read while it is written.
type logged struct {
	sync.Mutex
	strings.Builder
}

func (l *logged) Write(line []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Builder.Write(line)
}

func (l *logged) String() string {
	l.Lock()
	defer l.Unlock()
	return l.Builder.String()
}

// observed is what an observer was told.
type observed struct {
	sync.Mutex
	attempts map[string]int
	resting  int
	patience time.Duration // how long it takes to be told of an attempt
}

func (o *observed) WebhookAttempt(outcome string) {
	time.Sleep(o.patience)
	o.Lock()
	defer o.Unlock()
	if o.attempts == nil {
		o.attempts = map[string]int{}
	}
	o.attempts[outcome]++
}

func (o *observed) OutboxSeen(_ int64, _ time.Duration, resting int) {
	o.Lock()
	defer o.Unlock()
	o.resting = resting
}

func (o *observed) count(outcome string) int {
	o.Lock()
	defer o.Unlock()
	return o.attempts[outcome]
}

func newRig(t testing.TB, url string) *rig {
	t.Helper()
	store, err := open.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := sealing.Generate()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, store: store}
	r.register = &webhooks.Register{Storage: store, Keys: keys, Now: r.now, Changed: func() {}}
	t.Cleanup(func() { _ = store.Close() })
	return r
}

func (r *rig) now() time.Time { return time.Now().Add(time.Duration(r.skew.Load())) }

// open opens secrets, unless they cannot be.
func (r *rig) open(webhook storage.Webhook) (events.Secrets, error) {
	if r.sealed.Load() {
		return events.Secrets{}, sealing.ErrSealed
	}
	return r.register.Open(webhook)
}

// run tells receivers of events until it is stopped, or the test ends.
func (r *rig) run() (stop func()) {
	sender := &deliver.Sender{
		Settings: func() deliver.Settings {
			return deliver.Settings{Reach: deliver.Reach{Loopback: true, AnyPort: true}}
		},
		Now: time.Now, Patience: r.patience,
	}
	d := dispatch.New(dispatch.Options{
		Storage: r.store, Sender: sender, Open: r.open, Notify: r.register.Notify, Now: r.now,
		Retention: func() time.Duration { return time.Hour }, Observer: &r.seen,
		Log: slog.New(slog.NewTextHandler(&r.log, nil)),
	})
	r.register.Changed = d.Wake
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

// A receiver writes down what it is told.
type receiver struct {
	sync.Mutex
	url   string
	ids   []string // of events, as often as they came
	reply func(w http.ResponseWriter, told int)
}

func newReceiver(t testing.TB, reply func(w http.ResponseWriter, told int)) *receiver {
	t.Helper()
	told := &receiver{reply: reply}
	server := httptest.NewServer(told)
	t.Cleanup(server.Close)
	told.url = server.URL
	return told
}

// ServeHTTP implements http.Handler.
func (e *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	e.Lock()
	e.ids = append(e.ids, r.Header.Get("Webhook-Id"))
	told, reply := len(e.ids), e.reply
	e.Unlock()
	if reply != nil {
		reply(w, told)
	}
}

func (e *receiver) told() []string {
	e.Lock()
	defer e.Unlock()
	return slices.Clone(e.ids)
}

func answering(statuses ...int) func(http.ResponseWriter, int) {
	return func(w http.ResponseWriter, told int) { w.WriteHeader(statuses[min(told, len(statuses))-1]) }
}

// subscribe has a receiver told of events.
func (r *rig) subscribe(e *receiver) (id string) {
	r.t.Helper()
	token := "the-token"
	made, err := r.register.Create(r.t.Context(), portal, webhooks.Settings{URL: &e.url, Token: &token})
	if err != nil {
		r.t.Fatal(err)
	}
	return made.ID
}

// finish has so many surveys finished, and returns the ids of the events' surveys.
func (r *rig) finish(many int) {
	r.t.Helper()
	for range many {
		err := r.store.Transact(r.t.Context(), func(tx storage.Tx) error {
			return webhooks.Announce(r.t.Context(), tx, events.NewSurveyFinished(uuid.NewString(), uuid.NewString()))
		})
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *rig) attempts(id string) []storage.WebhookAttempt {
	r.t.Helper()
	attempts, _, err := r.register.Deliveries(r.t.Context(), id, webhooks.Page{AtMost: 50})
	if err != nil {
		r.t.Fatal(err)
	}
	slices.Reverse(attempts)
	return attempts
}

func (r *rig) health(id string) events.Health {
	r.t.Helper()
	var kept storage.Webhook
	err := r.store.Transact(r.t.Context(), func(tx storage.Tx) (err error) {
		kept, err = tx.Webhook(r.t.Context(), id)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return kept.Health
}

// until waits for something that comes about by itself.
func until(t testing.TB, what string, reached func() bool) {
	t.Helper()
	untilAfter(t, 2*time.Minute, what, reached)
}

func untilAfter(t testing.TB, patience time.Duration, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !reached(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not come about that %s", what)
		}
	}
}

func TestTold(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		r.run()
		one, other := newReceiver(t, nil), newReceiver(t, nil)
		first := r.subscribe(one)
		r.subscribe(other)
		r.finish(20)
		until(t, "both are told of all", func() bool { return len(one.told()) == 20 && len(other.told()) == 20 })
		until(t, "it is written down", func() bool { return len(r.attempts(first)) == 20 && r.seen.count("delivered") == 40 })
		for _, attempt := range r.attempts(first) {
			if attempt.Status != 200 || attempt.Number != 1 || attempt.Error != "" || !attempt.NextAt.IsZero() {
				t.Errorf("an attempt is %+v", attempt)
			}
		}
		if text := r.log.String(); strings.Contains(text, "the-token") || strings.Contains(text, one.url) || !strings.Contains(text, "webhook delivered") {
			t.Errorf("the log says:\n%s", text)
		}
	})
}

// One that fails is told again, of the same event by the same id, and of the others
// meanwhile.
func TestToldAgain(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		r.run()
		e := newReceiver(t, answering(500, 200))
		id := r.subscribe(e)
		r.finish(1)
		until(t, "it is told twice", func() bool { return len(e.told()) == 2 })
		until(t, "it is written down", func() bool { return len(r.attempts(id)) == 2 })
		attempts := r.attempts(id)
		if ids := e.told(); ids[0] != ids[1] {
			t.Errorf("the ids are %v", ids)
		}
		pause := attempts[0].NextAt.Sub(attempts[0].At)
		if attempts[0].Status != 500 || attempts[0].Error == "" || pause < 5*time.Second || pause > 7*time.Second || attempts[1].Number != 2 {
			t.Errorf("the attempts are %+v", attempts)
		}
		if is := r.health(id); is != (events.Health{}) {
			t.Errorf("it does %+v", is)
		}
	})
}

// One that hangs, and one that is down, hold up nobody.
func TestOthersAreNotHeldUp(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		r.run()
		hangs := r.subscribe(newHanging(t))
		r.subscribe(newReceiver(t, answering(500)))
		well := newReceiver(t, nil)
		r.subscribe(well)
		r.finish(12)
		until(t, "the one that is well is told of all", func() bool { return len(well.told()) == 12 })
		if ended := len(r.attempts(hangs)); ended > 0 {
			t.Errorf("the one that is well had to wait for %d deliveries to the one that hangs", ended)
		}
	})
}

// newHanging is a receiver that answers nobody before the test ends.
func newHanging(t testing.TB) *receiver {
	t.Helper()
	release := make(chan struct{})
	hanging := newReceiver(t, func(http.ResponseWriter, int) { <-release })
	t.Cleanup(func() { close(release) })
	return hanging
}

// One that hangs and one that is down are left alone for a while.
func TestLeftAlone(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		r.patience = time.Second
		r.run()
		down := newReceiver(t, answering(500))
		hangs, fails := r.subscribe(newHanging(t)), r.subscribe(down)
		r.finish(40)
		until(t, "both are left alone", func() bool {
			return r.health(hangs).Status() == events.Failing && r.health(fails).Status() == events.Failing
		})
		until(t, "that is seen", func() bool {
			r.seen.Lock()
			defer r.seen.Unlock()
			return r.seen.resting == 2
		})
		told := len(down.told())
		time.Sleep(500 * time.Millisecond)
		if again := len(down.told()); again != told || told == 40 {
			t.Errorf("one that is left alone was told %d times, then %d", told, again)
		}
	})
}

// One that comes back is told of all that it missed, without an attempt used up while it
// was left alone.
func TestComesBack(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		r.run()
		e := newReceiver(t, answering(500))
		id := r.subscribe(e)
		r.finish(30)
		until(t, "it is left alone", func() bool { return r.health(id).Status() == events.Failing })
		e.Lock()
		e.reply = nil
		e.Unlock()
		r.skew.Store(int64(time.Minute)) // its rest is over
		r.register.Changed()
		distinct := func() int {
			ids := e.told()
			slices.Sort(ids)
			return len(slices.Compact(ids))
		}
		until(t, "it is told of all", func() bool { return distinct() == 30 })
		until(t, "it is well", func() bool { return r.health(id) == events.Health{} })
		for _, attempt := range r.attempts(id) {
			if attempt.Number > 2 {
				t.Errorf("an attempt was the %dth", attempt.Number)
			}
		}
	})
}

// One that wants nothing any more is told nothing any more.
func TestGone(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		r.run()
		e := newReceiver(t, answering(http.StatusGone))
		id := r.subscribe(e)
		r.finish(1)
		until(t, "it is disabled", func() bool { return r.health(id).Disabled })
		told := len(e.told())
		r.finish(5)
		time.Sleep(200 * time.Millisecond)
		if again := len(e.told()); again != told {
			t.Errorf("it was told %d times more", again-told)
		}
		back := newReceiver(t, nil)
		if _, err := r.register.Change(t.Context(), portal, id, webhooks.Settings{URL: &back.url}); err != nil {
			t.Fatal(err)
		}
		r.finish(1)
		until(t, "it is told again at another address", func() bool { return len(back.told()) == 1 })
	})
}

// That one wants nothing any more is written down, though it ends what is sent to it.
func TestGoneIsWrittenDown(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		r.seen.patience = 20 * time.Millisecond // and by then it has ended
		r.run()
		var ids []string
		for range 10 {
			ids = append(ids, r.subscribe(newReceiver(t, answering(http.StatusGone))))
		}
		r.finish(1)
		until(t, "all are disabled", func() bool {
			return !slices.ContainsFunc(ids, func(id string) bool { return !r.health(id).Disabled })
		})
	})
}

// What is removed is told nothing any more, not even what is under way.
func TestRemoved(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		r.run()
		began, release := make(chan struct{}, 100), make(chan struct{})
		e := newReceiver(t, func(http.ResponseWriter, int) {
			began <- struct{}{}
			<-release
		})
		t.Cleanup(func() { close(release) })
		id := r.subscribe(e)
		r.finish(30)
		<-began
		if _, err := r.register.Delete(t.Context(), portal, id); err != nil {
			t.Fatal(err)
		}
		until(t, "nothing is left", func() bool {
			waiting, err := r.store.Waiting(t.Context())
			return err == nil && len(waiting) == 0
		})
		if told := len(e.told()); told > 8 {
			t.Errorf("it was told %d times", told)
		}
	})
}

// What was not told when the server ended is told by the next, from embedded storage at
// once.
func TestToldByTheNext(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		e := newReceiver(t, nil)
		r.subscribe(e)
		r.finish(10)
		stop := r.run()
		until(t, "it is told of something", func() bool { return len(e.told()) > 0 })
		stop()
		r.finish(10)
		r.run()
		until(t, "it is told of all", func() bool { return len(slices.Compact(slices.Sorted(slices.Values(e.told())))) == 20 })
	})
}

// A notification that fell due while no server was there is given by the next one.
func TestNotificationAfterDowntime(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		e := newReceiver(t, nil)
		id := r.subscribe(e)
		due := time.Now().Add(-time.Hour)
		user := storage.User{ID: uuid.NewString(), Contact: []byte{1}, Generation: "g", CreatedAt: due}
		patient := guidance.Patient{ID: uuid.NewString(), UserID: user.ID, CreatedAt: due}
		survey := guidance.Survey{ID: uuid.NewString(), PatientID: patient.ID, Type: guidance.Triage, Status: guidance.New, Version: 1, NotificationDate: due}
		err := r.store.Transact(t.Context(), func(tx storage.Tx) error {
			return errors.Join(tx.InsertUser(t.Context(), user, nil), tx.InsertPatient(t.Context(), patient),
				tx.InsertSurvey(t.Context(), survey), webhooks.Schedule(t.Context(), tx, survey))
		})
		if err != nil {
			t.Fatal(err)
		}
		r.run()
		until(t, "it is told", func() bool { return len(r.attempts(id)) == 1 })
		want := events.NewNotification("", survey.ID, user.ID).Body()
		if got := r.attempts(id)[0].Event.Body(); string(got) != string(want) {
			t.Errorf("told is %s, want %s", got, want)
		}
	})
}

// Two replicas tell each receiver of each event once, and both leave one alone that
// fails.
func TestReplicas(t *testing.T) {
	t.Parallel()
	url := postgrestest.Database(t)
	one, other := newRig(t, url), newRig(t, url)
	other.register.Keys = one.register.Keys
	one.run()
	other.run()
	well, down := newReceiver(t, nil), newReceiver(t, answering(500))
	one.subscribe(well)
	fails := other.subscribe(down)
	one.finish(30)
	other.finish(30)
	until(t, "it is told of all", func() bool { return len(well.told()) >= 60 })
	until(t, "the other is left alone", func() bool { return one.health(fails).Status() == events.Failing })
	time.Sleep(4 * time.Second) // and then both replicas have looked
	told := len(down.told())
	time.Sleep(time.Second)
	if again := len(down.told()); again != told {
		t.Errorf("one that is left alone was told %d times more", again-told)
	}
	if ids := well.told(); len(ids) != 60 || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 60 {
		t.Errorf("of 60 events was told %d times", len(ids))
	}
}

// Attempts are erased that were kept for long enough.
func TestPurged(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		e := newReceiver(t, nil)
		id := r.subscribe(e)
		old := storage.WebhookAttempt{ID: uuid.NewString(), WebhookID: id, At: time.Now().Add(-2 * time.Hour), Event: events.NewPing("e"), Number: 1}
		young := old
		young.ID, young.At = uuid.NewString(), time.Now()
		err := r.store.Transact(t.Context(), func(tx storage.Tx) error {
			return tx.InsertWebhookAttempts(t.Context(), []storage.WebhookAttempt{old, young})
		})
		if err != nil {
			t.Fatal(err)
		}
		r.run()
		until(t, "the old one is gone", func() bool { return len(r.attempts(id)) == 1 })
		if left := r.attempts(id); left[0].ID != young.ID {
			t.Errorf("left is %+v", left)
		}
	})
}

// What cannot be unsealed is said, and stops nobody else.
func TestUnreadableSecrets(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		r.run()
		well := newReceiver(t, nil)
		broken := storage.Webhook{ID: uuid.NewString(), Settings: storage.WebhookSettings{URL: well.url}, Secrets: []byte("x"), Generation: "g"}
		err := r.store.Transact(t.Context(), func(tx storage.Tx) error { return tx.InsertWebhook(t.Context(), broken) })
		if err != nil {
			t.Fatal(err)
		}
		r.subscribe(well)
		r.finish(1)
		until(t, "the other is told", func() bool { return len(well.told()) == 1 })
		until(t, "it is said", func() bool { return strings.Contains(r.log.String(), broken.ID) })
	})
}

// What cannot be unsealed for a while, as when a replica learns late of new keys, loses
// nothing of what is under way.
func TestUnreadableForAWhile(t *testing.T) {
	t.Parallel()
	eachStorage(t, func(t *testing.T, r *rig) {
		r.run()
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
		r.finish(20)
		until(t, "some are under way", func() bool { return len(e.told()) >= 4 })
		r.sealed.Store(true)
		r.register.Changed()
		until(t, "it is said", func() bool { return strings.Contains(r.log.String(), "open the secrets") })
		hangs.Store(false)
		r.sealed.Store(false)
		r.register.Changed()
		until(t, "it is told of all", func() bool { return r.seen.count("delivered") == 20 })
	})
}

// A server ends in time although storage is gone.
func TestEndsWithoutStorage(t *testing.T) {
	t.Parallel()
	r := newRig(t, "sqlite:"+filepath.Join(t.TempDir(), "anamnesis.db"))
	stop := r.run()
	e := newReceiver(t, nil)
	r.subscribe(e)
	r.finish(5)
	until(t, "it is told", func() bool { return len(e.told()) > 0 })
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, "all of it saw that", func() bool { return strings.Contains(r.log.String(), "running listener") })
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

// An embedded instance that has nothing to tell writes nothing and asks nothing.
func TestSleeps(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "anamnesis.db")
	r := newRig(t, "sqlite:"+path)
	r.run()
	e := newReceiver(t, nil)
	r.subscribe(e)
	r.finish(1)
	until(t, "it is told", func() bool { return len(e.told()) == 1 })
	until(t, "it falls asleep", func() bool {
		before := sizes(t, path)
		time.Sleep(3 * time.Second)
		return sizes(t, path) == before
	})
	r.finish(1)
	until(t, "a commit wakes it", func() bool { return len(e.told()) == 2 })
}

// sizes are when and how large the files of a database were written.
func sizes(t *testing.T, path string) string {
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
