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

	"github.com/anamnesis-dev/anamnesis/apiserver/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// A moody store is down while failure is set.
type moody struct {
	failure atomic.Pointer[error]
	opened  atomic.Int64
	closed  bool
}

func (m *moody) be(err error) {
	if err == nil {
		m.failure.Store(nil)
		return
	}
	m.failure.Store(&err)
}

func (m *moody) err() error {
	if failure := m.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

func (m *moody) open(context.Context, string) (storage.Store, error) {
	m.opened.Add(1)
	if err := m.err(); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *moody) Ping(context.Context) error                         { return m.err() }
func (m *moody) AddUsage(context.Context, storage.UsageBatch) error { return m.err() }
func (m *moody) Close() error                                       { m.closed = true; return nil }
func (m *moody) Usage(context.Context, storage.Date, storage.Date) ([]storage.UsageCount, error) {
	return []storage.UsageCount{{Calls: 7}}, m.err()
}

func (m *moody) UsageTotals(context.Context, storage.Date, storage.Date, []string) ([]storage.UsageTotal, error) {
	return nil, m.err()
}
func (m *moody) PutFeedback(context.Context, feedback.Interview) error { return m.err() }
func (m *moody) Feedback(context.Context, int64, int64) ([]feedback.Interview, int64, error) {
	return nil, 0, m.err()
}

func keeper(log *slog.Logger, opens func(context.Context, string) (storage.Store, error), up func(bool)) *storeKeeper {
	return newStoreKeeper(options{Command: Command{Database: "postgres://db"}, log: log, openStore: opens}, up, func(context.Context) {})
}

// look describes all that a keeper says about storage.
func look(k *storeKeeper, up bool) string {
	state, err := k.probe()
	added := k.AddUsage(context.Background(), storage.UsageBatch{})
	counts, read := k.Usage(context.Background(), storage.Date{}, storage.Date{})
	return fmt.Sprintf("up %v, probe %s %v, add %v, read %d %v", up, state, err, added, len(counts), read)
}

func TestStoreKeeper(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, log := &moody{}, &logged{}
		var up atomic.Bool
		k := keeper(slog.New(slog.NewTextHandler(log, nil)), store.open, up.Store)
		var cameUp atomic.Int64
		k.cameUp = func(context.Context) { cameUp.Add(1) }
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)

		refused, gone := errors.New("connection refused"), errors.New("connection reset")
		store.be(refused)
		go func() { ended <- k.run(ctx) }()
		const well = "up true, probe up <nil>, add <nil>, read 1 <nil>"
		for _, step := range []struct {
			name string
			mood error
			wait time.Duration
			want string
		}{
			{"not there yet", refused, 10 * time.Second, "up false, probe up connection refused, add storage is not open yet, read 0 storage is not open yet"},
			{"there", nil, 2 * time.Second, well},
			{"gone", gone, 6 * time.Second, "up false, probe up connection reset, add connection reset, read 1 connection reset"},
			{"still gone", gone, time.Minute, "up false, probe up connection reset, add connection reset, read 1 connection reset"},
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
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		if err := k.close(); err != nil || !store.closed {
			t.Errorf("closed: %v, %v", store.closed, err)
		}
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

func TestStoreKeeperGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &moody{}
		store.be(storage.ErrInvalidURL)
		k := keeper(discard, store.open, func(bool) {})
		if err := k.run(t.Context()); !errors.Is(err, storage.ErrInvalidURL) || store.opened.Load() != 1 {
			t.Errorf("ended with %v after %d tries", err, store.opened.Load())
		}
		if err := k.close(); err != nil || store.closed {
			t.Errorf("closed what was not open: %v, %v", store.closed, err)
		}
	})
}

// Ending while storage is being opened is no news about storage.
func TestStoreKeeperEndsWhileOpening(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &logged{}
		hangs := func(ctx context.Context, _ string) (storage.Store, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		k := keeper(slog.New(slog.NewTextHandler(log, nil)), hangs, func(bool) {})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- k.run(ctx) }()
		time.Sleep(time.Second)
		cancel()
		if err := <-ended; err != nil || log.String() != "" {
			t.Errorf("ended with %v, and logged %s", err, log)
		}
	})
}

// A server whose storage was there is ready, though storage is down by the time
// that anybody asks.
func TestStorageGoesDownUnseen(t *testing.T) {
	t.Parallel()
	store := &moody{}
	r := serving(t, Command{Dev: true, Models: releases(t, t.TempDir(), november), Database: "postgres://db"},
		func(o *options) { o.openStore = store.open })
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
		func(o *options) { o.openStore = store.open })
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
