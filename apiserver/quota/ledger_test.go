// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
)

const triage, explain = "POST /v3/triage", "POST /v3/explain"

// trial is a plan with some calls to each service.
func trial(calls int64) Plans {
	return Plans{"trial": {Explain: &calls, Suggest: &calls, Rationale: &calls, Triage: &calls}}
}

func wantAdmitted(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d calls were admitted, want %d", what, got, want)
	}
}

// Each service has its own limit, as many calls as that are admitted, and not
// one more, flushed or not.
func TestLimit(t *testing.T) {
	t.Parallel()
	r := newReplica(&memory{}, at(t, "2026-11-21T12:00:00Z").now, trial(5))
	r.Refresh(t.Context())
	wantAdmitted(t, "triage", r.calls(2, "trial", triage), 2)
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	wantAdmitted(t, "triage after a flush", r.calls(7, "trial", triage), 3)
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	wantAdmitted(t, "triage after another", r.calls(2, "trial", triage), 0)
	wantAdmitted(t, "explain", r.calls(6, "trial", explain), 5)
	wantAdmitted(t, "rationale", r.calls(6, "trial", "POST /v3/rationale"), 5)
	wantAdmitted(t, "suggest", r.calls(3, "trial", "POST /v3/suggest"), 3)
	wantAdmitted(t, "red flags, which are suggestions", r.calls(3, "trial", "POST /v3/red_flags"), 2)
	wantAdmitted(t, "what has no limit", r.calls(20, "trial", "POST /v3/diagnosis"), 20)
	wantAdmitted(t, "who has no plan", r.calls(20, "", triage), 20)
	wantAdmitted(t, "whose plan is unknown", r.calls(20, "gold", triage), 20)
	want := []string{
		"trial triage", "trial triage", "trial triage", "trial triage", "trial triage", "trial triage",
		"trial explain", "trial rationale", "trial suggest",
	}
	if diff := cmp.Diff(want, r.refused); diff != "" {
		t.Errorf("refused (-want +got)\n%s", diff)
	}
	if got := r.recorder.Buffered(); got != 5+5+5+60 {
		t.Errorf("%d calls are counted since the last flush, want those that were admitted", got)
	}
}

// What storage has from before, and what other replicas put there, counts.
func TestCallsOfOthers(t *testing.T) {
	t.Parallel()
	clock, store := at(t, "2026-11-21T12:00:00Z"), &memory{}
	a, b := newReplica(store, clock.now, trial(5)), newReplica(store, clock.now, trial(5))
	a.Refresh(t.Context())
	wantAdmitted(t, "the first", a.calls(3, "trial", triage), 3)
	if err := a.flush(); err != nil {
		t.Fatal(err)
	}
	b.Refresh(t.Context())
	wantAdmitted(t, "the second, which knows of the first", b.calls(9, "trial", triage), 2)
	wantAdmitted(t, "the first, which does not know yet", a.calls(1, "trial", triage), 1)
	for _, r := range []*replica{b, a} {
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
	}
	wantAdmitted(t, "the first, which knows now", a.calls(9, "trial", triage), 0)
	wantAdmitted(t, "the second", b.calls(9, "trial", triage), 0)
	started := newReplica(store, clock.now, trial(5))
	started.Refresh(t.Context())
	wantAdmitted(t, "one that has just started", started.calls(9, "trial", triage), 0)
}

// A limit is that of a calendar month in UTC, and whoever is refused is told
// when it ends.
func TestMonths(t *testing.T) {
	t.Parallel()
	clock, store := at(t, "2026-10-31T23:59:59Z"), &memory{}
	r := newReplica(store, clock.now, trial(2))
	r.Refresh(t.Context())
	for _, step := range []struct {
		now      string
		calls    int
		admitted int
		wait     time.Duration
	}{
		{"2026-10-31T23:59:59Z", 3, 2, time.Second},
		{"2026-11-01T00:00:00Z", 3, 2, 30 * 24 * time.Hour},
		{"2026-12-01T00:30:00+01:00", 1, 0, 30 * time.Minute}, // still November in UTC
		{"2026-11-30T23:59:59Z", 1, 0, time.Second},
		{"2026-11-30T19:00:00-05:00", 2, 2, 31 * 24 * time.Hour}, // December already
		{"2027-01-01T00:00:00Z", 2, 2, 31 * 24 * time.Hour},
		{"2027-02-28T12:00:00Z", 3, 2, 12 * time.Hour},
		{"2028-02-29T12:00:00Z", 2, 2, 12 * time.Hour},
	} {
		*clock = *at(t, step.now)
		wantAdmitted(t, step.now, r.calls(step.calls, "trial", triage), step.admitted)
		if end, wait := r.Begin("trial", triage, true); end != nil || wait != step.wait {
			t.Errorf("%s: the next call is to wait %v, want %v", step.now, wait, step.wait)
		}
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
		if len(r.accounts) > 1 {
			t.Errorf("%s: %d accounts are kept", step.now, len(r.accounts))
		}
	}
}

// A call that is under way as a month ends counts in the month in which it is
// answered, whichever it was admitted in.
func TestCallOverTheEndOfAMonth(t *testing.T) {
	t.Parallel()
	clock, store := at(t, "2026-11-30T23:59:59Z"), &memory{}
	r := newReplica(store, clock.now, trial(3))
	r.Refresh(t.Context())
	end, _ := r.Begin("trial", triage, true)
	clock.time = clock.time.Add(time.Second)
	wantAdmitted(t, "the first of December", r.calls(1, "trial", triage), 1)
	end(true)
	for range 2 {
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
	}
	wantAdmitted(t, "the rest of December", r.calls(9, "trial", triage), 1)
}

// Calls under way take up a place, those that fail give it back, and those that
// do not count take none and are refused like the others.
func TestCallsThatDoNotCount(t *testing.T) {
	t.Parallel()
	r := newReplica(&memory{}, at(t, "2026-11-21T12:00:00Z").now, trial(2))
	r.Refresh(t.Context())
	first, _ := r.Begin("trial", triage, true)
	second, _ := r.Begin("trial", triage, true)
	wantAdmitted(t, "while two are under way", r.calls(1, "trial", triage), 0)
	first(false)
	second(true)
	for range 5 {
		end, wait := r.Begin("trial", triage, false)
		if end == nil {
			t.Fatalf("a call that does not count is to wait %v", wait)
		}
		end(false)
	}
	wantAdmitted(t, "after one has failed", r.calls(2, "trial", triage), 1)
	if end, _ := r.Begin("trial", triage, false); end != nil {
		t.Error("a call that does not count is admitted where none is left")
	}
	if got := r.recorder.Buffered(); got != 2 {
		t.Errorf("%d calls are counted, want 2", got)
	}
}

// While storage is down all calls pass; what was counted meanwhile is judged
// once it is back.
func TestStorageIsDown(t *testing.T) {
	t.Parallel()
	store := &memory{}
	store.be(errDown)
	r := newReplica(store, at(t, "2026-11-21T12:00:00Z").now, trial(3))
	r.Refresh(t.Context())
	wantAdmitted(t, "before storage was there", r.calls(5, "trial", triage), 5)
	if err := r.flush(); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	wantAdmitted(t, "after a flush that failed", r.calls(5, "trial", triage), 5)
	store.be(nil)
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	wantAdmitted(t, "once it is there", r.calls(5, "trial", triage), 0)
	wantAdmitted(t, "another service", r.calls(1, "trial", explain), 1)
	store.be(errDown)
	if err := r.flush(); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	wantAdmitted(t, "when it is gone again", r.calls(1, "trial", triage), 1)
	store.be(nil)
	store.unread = errDown
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	wantAdmitted(t, "when it takes counts and gives no totals", r.calls(1, "trial", triage), 1)
	store.unread = nil
	r.Refresh(t.Context())
	wantAdmitted(t, "once it gives them", r.calls(5, "trial", triage), 0)
	wantAdmitted(t, "the other service", r.calls(5, "trial", explain), 2)
	went := slices.CompactFunc(r.readings, func(a, b error) bool { return (a == nil) == (b == nil) })
	if want := []error{errDown, nil, errDown, nil}; !slices.EqualFunc(went, want, errors.Is) {
		t.Errorf("readings went %v, want %v", went, want)
	}
}

// Calls that storage took and could not say so do not count twice, whoever asks
// for totals before they are sent again.
func TestBatchThatStorageMayHave(t *testing.T) {
	t.Parallel()
	store := &memory{late: true}
	r := newReplica(store, at(t, "2026-11-21T12:00:00Z").now, trial(4))
	r.Refresh(t.Context())
	wantAdmitted(t, "before", r.calls(2, "trial", triage), 2)
	store.be(errDown)
	if err := r.flush(); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	store.be(nil)
	r.Refresh(t.Context())
	wantAdmitted(t, "once storage is back", r.calls(2, "trial", triage), 2)
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	wantAdmitted(t, "once storage says what it has", r.calls(9, "trial", triage), 0)
	if got := store.triaged(civil.Date{Year: 2026, Month: 11, Day: 21}); got != 4 {
		t.Errorf("storage has %d calls, want 4", got)
	}
}

// Where no limited call is sent again, totals are read all the same: a replica
// that was started while storage was down knows of what others have counted.
func TestTotalsAreReadAfterAFailure(t *testing.T) {
	t.Parallel()
	clock, store := at(t, "2026-11-21T12:00:00Z"), &memory{}
	other := newReplica(store, clock.now, trial(2))
	other.calls(2, "trial", triage)
	if err := other.flush(); err != nil {
		t.Fatal(err)
	}
	r := newReplica(store, clock.now, trial(2))
	store.be(errDown)
	r.calls(1, "gold", triage)
	if err := r.flush(); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	store.be(nil)
	r.Refresh(t.Context())
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	wantAdmitted(t, "afterwards", r.calls(1, "trial", triage), 0)
}

// A call that ends while storage is being told of others is not forgotten.
func TestCallsDuringFlush(t *testing.T) {
	t.Parallel()
	store := &memory{}
	r := newReplica(store, at(t, "2026-11-21T12:00:00Z").now, trial(4))
	r.Refresh(t.Context())
	store.during = func() { wantAdmitted(t, "during a flush", r.calls(1, "trial", triage), 1) }
	wantAdmitted(t, "before", r.calls(1, "trial", triage), 1)
	for range 2 {
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
	}
	wantAdmitted(t, "after two flushes", r.calls(9, "trial", triage), 1)
}

// Totals are read only when they matter.
func TestTotalsAreReadForLimits(t *testing.T) {
	t.Parallel()
	store := &memory{}
	r := newReplica(store, at(t, "2026-11-21T12:00:00Z").now, trial(3))
	for _, step := range []struct {
		application, endpoint string
		reads                 int
	}{
		{"trial", "POST /v3/diagnosis", 0}, {"gold", triage, 0}, {"trial", triage, 1}, {"trial", "GET /v3/info", 1},
	} {
		r.call(step.application, step.endpoint)
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
		if store.reads != step.reads {
			t.Errorf("after %s of %s totals were read %d times, want %d", step.endpoint, step.application, store.reads, step.reads)
		}
	}
}

// Plans that change hold at once, for what was called before as well.
func TestPlansChange(t *testing.T) {
	t.Parallel()
	r := newReplica(&memory{}, at(t, "2026-11-21T12:00:00Z").now, nil)
	r.Refresh(t.Context())
	wantAdmitted(t, "without plans", r.calls(10, "trial", triage), 10)
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	r.plans = trial(12)
	wantAdmitted(t, "with a plan", r.calls(10, "trial", triage), 2)
	r.plans = trial(15)
	wantAdmitted(t, "with a larger one", r.calls(10, "trial", triage), 3)
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	r.plans = trial(0)
	wantAdmitted(t, "with one that allows nothing", r.calls(10, "trial", triage), 0)
	r.plans = Plans{"trial": {}}
	wantAdmitted(t, "with one without limits", r.calls(10, "trial", triage), 10)
}

// However many calls come at once, and flushes between them, exactly those are
// admitted that the limit allows.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	const callers, calls, limit = 8, 400, 1000
	r := newReplica(&memory{}, at(t, "2026-11-21T12:00:00Z").now, trial(limit))
	r.Refused = func(string, Service) {}
	r.Refresh(t.Context())
	var admitted, failed atomic.Int64
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for i := range calls {
				end, _ := r.Begin("trial", triage, true)
				switch {
				case end == nil:
				case i%10 == 0:
					failed.Add(1)
					end(false)
				default:
					admitted.Add(1)
					end(true)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
	}
	if admitted.Load() != limit || failed.Load() == 0 {
		t.Errorf("%d calls were answered and %d failed, want %d and some", admitted.Load(), failed.Load(), limit)
	}
	total, err := r.Store.UsageTotals(t.Context(), civil.Date{Year: 2026, Month: 11, Day: 1}, civil.Date{Year: 2026, Month: 11, Day: 30}, []string{triage})
	if err != nil || len(total) != 1 || total[0].Calls != limit {
		t.Errorf("storage has %v, %v", total, err)
	}
}

func BenchmarkBegin(b *testing.B) {
	r := newReplica(&memory{}, time.Now, trial(1<<62))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r.call("trial", triage)
		}
	})
}
