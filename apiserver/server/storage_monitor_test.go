// SPDX-License-Identifier: Apache-2.0

package server

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

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/feedback"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/webhook/outbox"
)

// A flakyStore is down while failure is set.
type flakyStore struct {
	storage.Store
	isOpen     atomic.Bool
	currentErr atomic.Pointer[error]
	openCalls  atomic.Int64
}

func (s *flakyStore) setError(err error) {
	if err == nil {
		s.currentErr.Store(nil)
		return
	}
	s.currentErr.Store(&err)
}

func (s *flakyStore) err() error {
	if !s.isOpen.Load() {
		return record.ErrNotOpen
	}
	if failure := s.currentErr.Load(); failure != nil {
		return *failure
	}
	return nil
}

func (s *flakyStore) newStore(string) (storage.Store, error) { return s, nil }

func (s *flakyStore) Open(context.Context, storage.Owner) error {
	s.openCalls.Add(1)
	if failure := s.currentErr.Load(); failure != nil {
		return *failure
	}
	s.isOpen.Store(true)
	return nil
}

func (s *flakyStore) Ping(context.Context) error                  { return s.err() }
func (s *flakyStore) AddUsage(context.Context, usage.Batch) error { return s.err() }
func (s *flakyStore) Close() error                                { return nil }
func (s *flakyStore) ListUsage(context.Context, civil.Date, civil.Date) ([]usage.Count, error) {
	return []usage.Count{{Calls: 7}}, s.err()
}

func (s *flakyStore) ListUsageTotals(context.Context, civil.Date, civil.Date, []string) ([]usage.Total, error) {
	return nil, s.err()
}
func (s *flakyStore) View(context.Context, func(storage.Reader) error) error  { return s.err() }
func (s *flakyStore) Transact(context.Context, func(storage.Tx) error) error  { return s.err() }
func (s *flakyStore) QueueStats(context.Context) ([]outbox.QueueStats, error) { return nil, s.err() }
func (s *flakyStore) Enqueued() <-chan struct{}                               { return nil }
func (s *flakyStore) NewOutboxClient(context.Context, outbox.Handlers, *slog.Logger) (outbox.Client, error) {
	return nil, s.err()
}
func (s *flakyStore) PutFeedback(context.Context, feedback.InterviewFeedback) error { return s.err() }
func (s *flakyStore) ListFeedback(context.Context, int64, int64) ([]feedback.InterviewFeedback, int64, error) {
	return nil, 0, s.err()
}

func newTestMonitor(log *slog.Logger, store openPinger, up func(bool)) *storageMonitor {
	return newStorageMonitor(store, func() storage.Owner { return storage.Owner{} }, log, up, func(context.Context) {})
}

// describeStatus describes everything that a monitor reports about storage.
func describeStatus(m *storageMonitor, up bool) string {
	state, err := m.probe()
	return fmt.Sprintf("up %v, probe %s %v", up, state, err)
}

func TestStorageMonitor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, log := &flakyStore{}, &logBuffer{}
		var up atomic.Bool
		m := newTestMonitor(slog.New(slog.NewTextHandler(log, nil)), store, up.Store)
		var upCalls atomic.Int64
		m.onUp = func(context.Context) { upCalls.Add(1) }
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)

		refused, reset := errors.New("connection refused"), errors.New("connection reset")
		store.setError(refused)
		go func() { done <- m.run(ctx) }()
		const healthy = "up true, probe up <nil>"
		for _, step := range []struct {
			name     string
			storeErr error
			wait     time.Duration
			want     string
		}{
			{"before first open", refused, 10 * time.Second, "up false, probe up connection refused"},
			{"opened", nil, 2 * time.Second, healthy},
			{"down", reset, 6 * time.Second, "up false, probe up connection reset"},
			{"still down", reset, time.Minute, "up false, probe up connection reset"},
			{"recovered", nil, 6 * time.Second, healthy},
		} {
			store.setError(step.storeErr)
			time.Sleep(step.wait)
			if got := describeStatus(m, up.Load()); got != step.want {
				t.Errorf("%s: got %s, want %s", step.name, got, step.want)
			}
			if want := step.name != "before first open"; m.wasOpened() != want {
				t.Errorf("%s: wasOpened() = %v, want %v", step.name, m.wasOpened(), want)
			}
		}
		if upCalls.Load() != 2 {
			t.Errorf("onUp was called %d times, want twice", upCalls.Load())
		}
		if opened := store.openCalls.Load(); opened < 10 || opened > 13 {
			t.Errorf("Open was called %d times in twelve seconds, want 10 to 13", opened)
		}
		cancel()
		<-done
		var messages []string
		for line := range strings.Lines(log.String()) {
			_, message, _ := strings.Cut(strings.TrimSpace(line), "msg=")
			messages = append(messages, message)
		}
		want := []string{
			`"storage became unavailable" error="connection refused"`, `"storage became available"`,
			`"storage became unavailable" error="connection reset"`, `"storage became available"`,
		}
		if diff := cmp.Diff(want, messages); diff != "" {
			t.Errorf("log messages (-want +got):\n%s", diff)
		}
	})
}

// A hangingStore never responds.
type hangingStore struct{ storage.Store }

func (hangingStore) Open(ctx context.Context, _ storage.Owner) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestStorageMonitorStopsWhileOpening checks that stopping while storage is being opened
// does not report a storage failure.
func TestStorageMonitorStopsWhileOpening(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &logBuffer{}
		m := newTestMonitor(slog.New(slog.NewTextHandler(log, nil)), hangingStore{}, func(bool) {})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- m.run(ctx) }()
		time.Sleep(time.Second)
		cancel()
		if err := <-done; err != nil {
			t.Errorf("done with %v", err)
		}
		if log.String() != "" {
			t.Errorf("unexpected log: %s", log)
		}
	})
}

// TestReadyWhenStorageFailsBeforeFirstProbe checks that a server whose storage was
// opened is ready even if storage is down at the first probe.
func TestReadyWhenStorageFailsBeforeFirstProbe(t *testing.T) {
	t.Parallel()
	store := &flakyStore{}
	r := startServer(t, Command{Dev: true, Models: writeReleases(t, t.TempDir(), versionNovember), Database: "postgres://db"},
		func(o *options) { o.newStore = store.newStore })
	c := newPlainClient(t)
	up := func(wanted string) func() bool {
		return func() bool {
			return strings.Contains(mustSend(t, c, "GET", "http://"+r.admin+"/metrics", "").body, "anamnesis_storage_up "+wanted)
		}
	}
	eventually(t, "storage is up", up("1"))
	store.setError(errors.New("connection reset"))
	eventually(t, "storage is down", up("0"))
	if got := mustSend(t, c, "GET", "http://"+r.admin+"/readyz?verbose", ""); got.status != 200 || !strings.Contains(got.body, "[!] storage: connection reset; still serving") {
		t.Errorf("GET /readyz: got status %d, body %s", got.status, got.body)
	}
}

// TestStaysReadyWhenStorageGoesDown checks that a ready server stays ready when storage
// goes down, and reports it.
func TestStaysReadyWhenStorageGoesDown(t *testing.T) {
	t.Parallel()
	store := &flakyStore{}
	r := startServer(t, Command{Dev: true, Models: writeReleases(t, t.TempDir(), versionNovember), Database: "postgres://db"},
		func(o *options) { o.newStore = store.newStore })
	c := newPlainClient(t)
	admin := func(path string) testResponse { return mustSend(t, c, "GET", "http://"+r.admin+path, "") }
	eventually(t, "the server is ready", func() bool { return admin("/readyz").status == 200 })
	store.setError(errors.New("connection reset"))
	mustSend(t, c, "POST", "http://"+r.tenant+"/v3/triage", headacheBody, appHeaders("dev")...)
	eventually(t, "the check reports that storage is down", func() bool {
		ready := admin("/readyz?verbose")
		return ready.status == 200 && strings.Contains(ready.body, "[!] storage: connection reset; still serving")
	})
	metrics := admin("/metrics").body
	for _, want := range []string{"anamnesis_storage_up 0", "anamnesis_usage_buffered_calls 1", `anamnesis_usage_flushes_total{outcome="failed"}`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics do not contain %s", want)
		}
	}
	if got := mustSend(t, c, "POST", "http://"+r.tenant+"/v3/diagnosis", headacheBody, appHeaders("dev")...); got.status != 200 {
		t.Errorf("got status %d from /v3 while storage is down, want 200", got.status)
	}
	if n := strings.Count(r.log.String(), "failed to store usage counts"); n != 1 {
		t.Errorf("got %d log messages about failed usage counts, want 1", n)
	}
	store.setError(nil)
	eventually(t, "the counts are stored", func() bool {
		return strings.Contains(admin("/metrics").body, "anamnesis_usage_buffered_calls 0")
	})
}
