// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/events/outbox"
	"github.com/anamnesis-dev/anamnesis/apiserver/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// A moody store is down while failure is set.
type moody struct {
	storage.Store
	isOpen  atomic.Bool
	failure atomic.Pointer[error]
	opened  atomic.Int64
}

func (m *moody) be(err error) {
	if err == nil {
		m.failure.Store(nil)
		return
	}
	m.failure.Store(&err)
}

func (m *moody) err() error {
	if !m.isOpen.Load() {
		return storage.ErrNotOpen
	}
	if failure := m.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

func (m *moody) new(string) (storage.Store, error) { return m, nil }

func (m *moody) Open(context.Context, storage.Owner) error {
	m.opened.Add(1)
	if failure := m.failure.Load(); failure != nil {
		return *failure
	}
	m.isOpen.Store(true)
	return nil
}

func (m *moody) Ping(context.Context) error                         { return m.err() }
func (m *moody) AddUsage(context.Context, storage.UsageBatch) error { return m.err() }
func (m *moody) Close() error                                       { return nil }
func (m *moody) Usage(context.Context, civil.Date, civil.Date) ([]storage.UsageCount, error) {
	return []storage.UsageCount{{Calls: 7}}, m.err()
}

func (m *moody) UsageTotals(context.Context, civil.Date, civil.Date, []string) ([]storage.UsageTotal, error) {
	return nil, m.err()
}
func (m *moody) Transact(context.Context, func(storage.Tx) error) error { return m.err() }
func (m *moody) Waiting(context.Context) ([]outbox.Waiting, error)      { return nil, m.err() }
func (m *moody) Enqueued() <-chan struct{}                              { return nil }
func (m *moody) NewClient(context.Context, outbox.Handlers, *slog.Logger) (outbox.Client, error) {
	return nil, m.err()
}
func (m *moody) PutFeedback(context.Context, feedback.Interview) error { return m.err() }
func (m *moody) Feedback(context.Context, int64, int64) ([]feedback.Interview, int64, error) {
	return nil, 0, m.err()
}

func keeper(log *slog.Logger, store openable, up func(bool)) *storeKeeper {
	return newStoreKeeper(store, func() storage.Owner { return storage.Owner{} }, log, up, func(context.Context) {})
}

// look describes all that a keeper says about storage.
func look(k *storeKeeper, up bool) string {
	state, err := k.probe()
	return fmt.Sprintf("up %v, probe %s %v", up, state, err)
}

func TestStoreKeeper(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, log := &moody{}, &logged{}
		var up atomic.Bool
		k := keeper(slog.New(slog.NewTextHandler(log, nil)), store, up.Store)
		var cameUp atomic.Int64
		k.cameUp = func(context.Context) { cameUp.Add(1) }
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)

		refused, gone := errors.New("connection refused"), errors.New("connection reset")
		store.be(refused)
		go func() { ended <- k.run(ctx) }()
		const well = "up true, probe up <nil>"
		for _, step := range []struct {
			name string
			mood error
			wait time.Duration
			want string
		}{
			{"not there yet", refused, 10 * time.Second, "up false, probe up connection refused"},
			{"there", nil, 2 * time.Second, well},
			{"gone", gone, 6 * time.Second, "up false, probe up connection reset"},
			{"still gone", gone, time.Minute, "up false, probe up connection reset"},
			{"back", nil, 6 * time.Second, well},
		} {
			store.be(step.mood)
			time.Sleep(step.wait)
			if got := look(k, up.Load()); got != step.want {
				t.Errorf("%s: got %s\nexpected %s", step.name, got, step.want)
			}
			if once := step.name != "not there yet"; k.opened() != once {
				t.Errorf("%s: opened %v", step.name, k.opened())
			}
		}
		if cameUp.Load() != 2 {
			t.Errorf("it came up %d times, expected twice", cameUp.Load())
		}
		if opened := store.opened.Load(); opened < 10 || opened > 13 {
			t.Errorf("opened %d times in about twelve seconds", opened)
		}
		cancel()
		<-ended
		var messages []string
		for line := range strings.Lines(log.String()) {
			_, message, _ := strings.Cut(strings.TrimSpace(line), "msg=")
			messages = append(messages, message)
		}
		want := []string{
			`"storage is down" error="connection refused"`, `"storage is up"`,
			`"storage is down" error="connection reset"`, `"storage is up"`,
		}
		if diff := cmp.Diff(want, messages); diff != "" {
			t.Errorf("the log, one line for each change (-want +got)\n%s", diff)
		}
	})
}

// A hanging store never answers.
type hanging struct{ storage.Store }

func (hanging) Open(ctx context.Context, _ storage.Owner) error {
	<-ctx.Done()
	return ctx.Err()
}

// Ending while storage is being opened is no news about storage.
func TestStoreKeeperEndsWhileOpening(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &logged{}
		k := keeper(slog.New(slog.NewTextHandler(log, nil)), hanging{}, func(bool) {})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- k.run(ctx) }()
		time.Sleep(time.Second)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		if log.String() != "" {
			t.Errorf("logged %s", log)
		}
	})
}

// A server whose storage was there is ready, though storage is down by the time
// that anybody asks.
func TestStorageGoesDownUnseen(t *testing.T) {
	t.Parallel()
	store := &moody{}
	r := serving(t, Command{Dev: true, Models: releases(t, t.TempDir(), november), Database: "postgres://db"},
		func(o *options) { o.newStore = store.new })
	c := plain(t)
	up := func(wanted string) func() bool {
		return func() bool {
			return strings.Contains(mustSend(t, c, "GET", "http://"+r.admin+"/metrics", "").body, "anamnesis_storage_up "+wanted)
		}
	}
	eventually(t, "storage is up", up("1"))
	store.be(errors.New("connection reset"))
	eventually(t, "storage is down", up("0"))
	if got := mustSend(t, c, "GET", "http://"+r.admin+"/readyz?verbose", ""); got.status != 200 || !strings.Contains(got.body, "[!] storage: connection reset; serving goes on") {
		t.Errorf("/readyz answered %d %s", got.status, got.body)
	}
}

// A server that was ready stays so when storage goes down, and says so.
func TestStorageGoesDownLater(t *testing.T) {
	t.Parallel()
	store := &moody{}
	r := serving(t, Command{Dev: true, Models: releases(t, t.TempDir(), november), Database: "postgres://db"},
		func(o *options) { o.newStore = store.new })
	c := plain(t)
	admin := func(path string) answer { return mustSend(t, c, "GET", "http://"+r.admin+path, "") }
	eventually(t, "it is ready", func() bool { return admin("/readyz").status == 200 })
	store.be(errors.New("connection reset"))
	mustSend(t, c, "POST", "http://"+r.tenant+"/v3/triage", headache, as("dev")...)
	eventually(t, "the check says that storage is down", func() bool {
		ready := admin("/readyz?verbose")
		return ready.status == 200 && strings.Contains(ready.body, "[!] storage: connection reset; serving goes on")
	})
	metrics := admin("/metrics").body
	for _, want := range []string{"anamnesis_storage_up 0", "anamnesis_usage_buffered_calls 1", `anamnesis_usage_flushes_total{outcome="failed"}`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	if got := mustSend(t, c, "POST", "http://"+r.tenant+"/v3/diagnosis", headache, as("dev")...); got.status != 200 {
		t.Errorf("/v3 answered %d while storage is down", got.status)
	}
	if n := strings.Count(r.log.String(), "usage counts cannot be stored"); n != 1 {
		t.Errorf("the log says %d times that counts cannot be stored, expected once", n)
	}
	store.be(nil)
	eventually(t, "the counts are stored", func() bool {
		return strings.Contains(admin("/metrics").body, "anamnesis_usage_buffered_calls 0")
	})
}
