// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

// fakeStore stores counts. It fails while err is set: before accepting a batch or, if
// failAfterWrite is set, after accepting it.
type fakeStore struct {
	mu             sync.Mutex
	err            error
	failAfterWrite bool
	counts         map[Count]int64  // calls by count, with Calls unset
	lastBatch      map[string]int64 // sequence of the last batch, by recorder
	calls          int
}

func (s *fakeStore) AddUsage(_ context.Context, batch Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.err != nil && !s.failAfterWrite {
		return s.err
	}
	if err := batch.Validate(); err != nil {
		return err
	}
	if s.counts == nil {
		s.counts, s.lastBatch = map[Count]int64{}, map[string]int64{}
	}
	if batch.Sequence <= s.lastBatch[batch.Recorder] {
		return s.err
	}
	s.lastBatch[batch.Recorder] = batch.Sequence
	for _, c := range batch.Counts {
		calls := c.Calls
		c.Calls = 0
		s.counts[c] += calls
	}
	return s.err
}

func (s *fakeStore) setError(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *fakeStore) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for c, calls := range s.counts {
		lines = append(lines, fmt.Sprintf("%s %s %s: %d", c.Date, c.Application, c.Endpoint, calls))
	}
	slices.Sort(lines)
	return lines
}

// fakeClock is a clock controlled by tests.
type fakeClock struct {
	mu   sync.Mutex
	time time.Time
}

func (c *fakeClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *fakeClock) set(text string) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = t
}

func TestFlush(t *testing.T) {
	t.Parallel()
	clock, store := &fakeClock{}, &fakeStore{}
	recorder := NewRecorder(clock.now)
	clock.set("2026-12-31T23:59:59Z")
	recorder.Count("portal", "GET /v3/info")
	recorder.Count("portal", "GET /v3/info")
	recorder.Count("kiosk", "GET /v3/info")
	clock.set("2027-01-01T01:30:00+01:00")
	recorder.Count("portal", "GET /v3/info")
	recorder.Count("portal", "POST /v3/triage")
	if got := recorder.Buffered(); got != 5 {
		t.Errorf("%d calls buffered, expected 5", got)
	}
	for range 2 {
		if err := recorder.Flush(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"2026-12-31 kiosk GET /v3/info: 1",
		"2026-12-31 portal GET /v3/info: 2",
		"2027-01-01 portal GET /v3/info: 1",
		"2027-01-01 portal POST /v3/triage: 1",
	}
	if diff := gocmp.Diff(want, store.lines()); diff != "" {
		t.Errorf("stored (-want +got)\n%s", diff)
	}
	if got := recorder.Buffered(); got != 0 {
		t.Errorf("%d calls buffered after the flush", got)
	}
	if store.calls != 1 {
		t.Errorf("AddUsage was called %d times, want no call for empty flushes", store.calls)
	}
}

// TestCountAcrossMidnight checks that a day starts and ends exactly on time, even with a
// cached date.
func TestCountAcrossMidnight(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{}
	recorder := NewRecorder(clock.now)
	for _, step := range []struct{ now, want string }{
		{"2026-12-31T00:00:00Z", "2026-12-31"}, {"2026-12-31T23:59:59Z", "2026-12-31"}, {"2027-01-01T00:00:00Z", "2027-01-01"},
		{"2026-12-31T23:59:59Z", "2026-12-31"}, {"2027-01-01T00:00:00Z", "2027-01-01"},
	} {
		clock.set(step.now)
		if got := recorder.Count("portal", "GET /v3/info").String(); got != step.want {
			t.Errorf("call at %s was counted on %s", step.now, got)
		}
	}
}

func TestFlushKeepsCountsOnFailure(t *testing.T) {
	t.Parallel()
	clock, store := &fakeClock{}, &fakeStore{err: errors.New("connection refused")}
	clock.set("2026-12-31T12:00:00Z")
	recorder := NewRecorder(clock.now)
	for range 3 {
		recorder.Count("portal", "GET /v3/info")
		if err := recorder.Flush(t.Context(), store); !errors.Is(err, store.err) {
			t.Fatalf("got %v, expected the error of the store", err)
		}
	}
	store.setError(nil)
	clock.set("2027-01-05T12:00:00Z") // days later, the counts are those of their own day
	if err := recorder.Flush(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]string{"2026-12-31 portal GET /v3/info: 3"}, store.lines()); diff != "" {
		t.Errorf("stored (-want +got)\n%s", diff)
	}
}

// storeFunc is a function that implements Store.
type storeFunc func(batch Batch) error

func (f storeFunc) AddUsage(_ context.Context, batch Batch) error { return f(batch) }

// TestBufferedDuringFlush checks that while a store is slow, the counts stay buffered. A
// batch that it did not accept is sent again unchanged, before any other.
func TestBufferedDuringFlush(t *testing.T) {
	t.Parallel()
	clock := &fakeClock{}
	clock.set("2026-12-31T12:00:00Z")
	recorder := NewRecorder(clock.now)
	recorder.Count("portal", "GET /v3/info")
	recorder.Count("kiosk", "GET /v3/info")
	var sent []string
	for _, outcome := range []error{errors.New("connection refused"), nil} {
		err := recorder.Flush(t.Context(), storeFunc(func(batch Batch) error {
			recorder.Count("portal", "GET /v3/info")
			sent = append(sent, fmt.Sprintf("batch %d of %d calls, %d buffered", batch.Sequence, totalCalls(batch.Counts), recorder.Buffered()))
			return outcome
		}))
		if !errors.Is(err, outcome) {
			t.Fatal(err)
		}
	}
	want := []string{"batch 1 of 2 calls, 3 buffered", "batch 1 of 2 calls, 4 buffered", "batch 2 of 2 calls, 3 buffered"}
	if diff := gocmp.Diff(want, sent); diff != "" {
		t.Errorf("sent (-want +got)\n%s", diff)
	}
	if got := recorder.Buffered(); got != 1 {
		t.Errorf("%d calls buffered, expected the call of the last flush", got)
	}
}

// TestFlushRetryCountsOnce checks that a store that accepted a batch but returned an
// error does not count it twice.
func TestFlushRetryCountsOnce(t *testing.T) {
	t.Parallel()
	clock, store := &fakeClock{}, &fakeStore{err: errors.New("server did not respond in time"), failAfterWrite: true}
	clock.set("2026-12-31T12:00:00Z")
	recorder, other := NewRecorder(clock.now), NewRecorder(clock.now)
	for range 3 {
		recorder.Count("portal", "GET /v3/info")
		other.Count("portal", "GET /v3/info")
		for _, r := range []*Recorder{recorder, other} {
			if err := r.Flush(t.Context(), store); !errors.Is(err, store.err) {
				t.Fatalf("got %v, expected the error of the store", err)
			}
		}
	}
	if got := recorder.Buffered(); got != 3 {
		t.Errorf("%d calls buffered, expected all that the store has not confirmed", got)
	}
	store.setError(nil)
	for _, r := range []*Recorder{recorder, other} {
		if err := r.Flush(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}
	if diff := gocmp.Diff([]string{"2026-12-31 portal GET /v3/info: 6"}, store.lines()); diff != "" {
		t.Errorf("stored (-want +got)\n%s", diff)
	}
}

func TestFlushDropsInvalidCounts(t *testing.T) {
	t.Parallel()
	clock, store := &fakeClock{}, &fakeStore{}
	clock.set("2026-12-31T12:00:00Z")
	recorder := NewRecorder(clock.now)
	recorder.Count("portal\x00", "GET /v3/info")
	recorder.Count("portal", "GET /v3/info")
	err := recorder.Flush(t.Context(), store)
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "dropping") {
		t.Errorf("got %v, want an error about the dropped count", err)
	}
	if diff := gocmp.Diff([]string{"2026-12-31 portal GET /v3/info: 1"}, store.lines()); diff != "" {
		t.Errorf("stored (-want +got)\n%s", diff)
	}
	if got := recorder.Buffered(); got != 0 {
		t.Errorf("%d calls buffered after the flush", got)
	}
}

func TestPastDaysAreRemoved(t *testing.T) {
	t.Parallel()
	clock, store := &fakeClock{}, &fakeStore{}
	recorder := NewRecorder(clock.now)
	for _, now := range []string{"2026-01-01T12:00:00Z", "2026-01-02T12:00:00Z", "2026-01-03T12:00:00Z", "2026-01-04T12:00:00Z"} {
		clock.set(now)
		recorder.Count("portal", "GET /v3/info")
		for range 2 {
			if err := recorder.Flush(t.Context(), store); err != nil {
				t.Fatal(err)
			}
		}
	}
	var held []string
	recorder.counts.Range(func(k, _ any) bool {
		held = append(held, k.(key).date.String())
		return true
	})
	slices.Sort(held)
	if diff := gocmp.Diff([]string{"2026-01-03", "2026-01-04"}, held); diff != "" {
		t.Errorf("days held in memory (-want +got)\n%s", diff)
	}
	if got := len(store.lines()); got != 4 {
		t.Errorf("%d days stored, expected 4", got)
	}
}

// TestCountsAreExactlyOnce checks that for any order of calls, failures and flushes,
// every call is counted exactly once.
func TestCountsAreExactlyOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		clock, store := &fakeClock{}, &fakeStore{}
		clock.set("2026-01-01T00:00:00Z")
		recorder := NewRecorder(clock.now)
		want := map[string]int64{}
		for _, step := range rapid.SliceOf(rapid.IntRange(0, 5)).Draw(t, "steps") {
			switch step {
			case 0:
				store.setError(errors.New("down"))
				store.failAfterWrite = rapid.Bool().Draw(t, "late")
			case 1:
				store.setError(nil)
			case 2:
				_ = recorder.Flush(context.Background(), store)
			case 3:
				clock.time = clock.time.Add(17 * time.Hour)
			default:
				application := fmt.Sprint("app", step)
				recorder.Count(application, "GET /v3/info")
				want[fmt.Sprint(civil.DateOf(clock.time), application)]++
			}
		}
		store.setError(nil)
		if err := recorder.Flush(context.Background(), store); err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for c, calls := range store.counts {
			got[fmt.Sprint(c.Date, c.Application)] += calls
		}
		if diff := gocmp.Diff(want, got); len(want)+len(got) > 0 && diff != "" {
			t.Fatalf("counts (-want +got)\n%s", diff)
		}
	})
}

func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	const callers, calls = 8, 500
	store := &fakeStore{}
	recorder := NewRecorder(time.Now)
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			for range calls {
				recorder.Count(fmt.Sprint("app", i%2), "GET /v3/info")
			}
		})
	}
	flushed := make(chan struct{})
	go func() { group.Wait(); close(flushed) }()
	for done := false; !done; {
		select {
		case <-flushed:
			done = true
		default:
		}
		if err := recorder.Flush(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}
	var sum int64
	for _, n := range store.counts {
		sum += n
	}
	if sum != callers*calls {
		t.Errorf("%d calls stored, expected %d", sum, callers*calls)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &fakeStore{err: errors.New("down")}
		recorder := NewRecorder(time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		var outcomes []bool
		done := make(chan error)
		go func() {
			done <- recorder.Run(ctx, store, time.Second, func(err error) { outcomes = append(outcomes, err == nil) })
		}()
		time.Sleep(1500 * time.Millisecond) // no flush without counts
		recorder.Count("portal", "GET /v3/info")
		time.Sleep(time.Second) // fails
		store.setError(nil)
		time.Sleep(time.Second) // succeeds
		time.Sleep(time.Second) // no flush without counts
		recorder.Count("portal", "GET /v3/symptoms")
		cancel() // the last call is stored at the end
		if err := <-done; err != nil {
			t.Error(err)
		}
		if diff := gocmp.Diff([]bool{false, true, true}, outcomes); diff != "" {
			t.Errorf("reports (-want +got)\n%s", diff)
		}
		if len(store.lines()) != 2 {
			t.Errorf("stored %v, expected two lines", store.lines())
		}
	})
}

// slowStore is a slow store that records whether its context was canceled.
type slowStore struct {
	fakeStore
	delay  time.Duration
	ctxErr error
}

func (s *slowStore) AddUsage(ctx context.Context, batch Batch) error {
	select {
	case <-time.After(s.delay):
		return s.fakeStore.AddUsage(ctx, batch)
	case <-ctx.Done():
		s.ctxErr = ctx.Err()
		return ctx.Err()
	}
}

// TestRunFlushesOnShutdown checks that shutdown does not abort a flush in progress, but
// a hanging store does not block it forever.
func TestRunFlushesOnShutdown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		delay   time.Duration
		wantErr error
		stored  int
	}{
		{5 * time.Second, nil, 2},
		{time.Hour, context.DeadlineExceeded, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			store := &slowStore{delay: test.delay}
			recorder := NewRecorder(time.Now)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- recorder.Run(ctx, store, time.Second, func(error) {}) }()
			recorder.Count("portal", "GET /v3/info")
			time.Sleep(1500 * time.Millisecond)
			recorder.Count("portal", "GET /v3/symptoms")
			cancel()
			if err := <-done; !errors.Is(err, test.wantErr) {
				t.Errorf("got %v, expected %v", err, test.wantErr)
			}
			if !errors.Is(store.ctxErr, test.wantErr) || len(store.lines()) != test.stored {
				t.Errorf("store got context error %v and stored %v", store.ctxErr, store.lines())
			}
			if got := recorder.Buffered(); got != int64(2-test.stored) {
				t.Errorf("%d calls are buffered, want %d", got, 2-test.stored)
			}
		})
	}
}

func BenchmarkCount(b *testing.B) {
	recorder := NewRecorder(time.Now)
	applications := []string{"portal", "kiosk"}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			recorder.Count(applications[cmp.Compare(i%2, 0)], "POST /v3/diagnosis")
		}
	})
}
