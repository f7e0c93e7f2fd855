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

	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

const triageEndpoint, explainEndpoint = "POST /v3/triage", "POST /v3/explain"

// newTrialPlan returns a plan with a limit for each service.
func newTrialPlan(calls int64) Plans {
	return Plans{"trial": {Explain: &calls, Suggest: &calls, Rationale: &calls, Triage: &calls}}
}

func checkAdmitted(t *testing.T, name string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d calls were admitted, want %d", name, got, want)
	}
}

// TestLimitPerOperation checks that each service has its own limit, which is exact,
// before and after flushes.
func TestLimitPerOperation(t *testing.T) {
	t.Parallel()
	r := newReplica(&fakeStore{}, clockAt(t, "2026-11-21T12:00:00Z").now, newTrialPlan(5))
	r.Refresh(t.Context())
	checkAdmitted(t, "triage", r.calls(2, "trial", triageEndpoint), 2)
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	checkAdmitted(t, "triage after a flush", r.calls(7, "trial", triageEndpoint), 3)
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	checkAdmitted(t, "triage after another flush", r.calls(2, "trial", triageEndpoint), 0)
	checkAdmitted(t, "explain", r.calls(6, "trial", explainEndpoint), 5)
	checkAdmitted(t, "rationale", r.calls(6, "trial", "POST /v3/rationale"), 5)
	checkAdmitted(t, "suggest", r.calls(3, "trial", "POST /v3/suggest"), 3)
	checkAdmitted(t, "red flags, counted as suggest", r.calls(3, "trial", "POST /v3/red_flags"), 2)
	checkAdmitted(t, "operation without a limit", r.calls(20, "trial", "POST /v3/diagnosis"), 20)
	checkAdmitted(t, "application without a plan", r.calls(20, "", triageEndpoint), 20)
	checkAdmitted(t, "application with an unknown plan", r.calls(20, "gold", triageEndpoint), 20)
	want := []string{
		"trial triage", "trial triage", "trial triage", "trial triage", "trial triage", "trial triage",
		"trial explain", "trial rationale", "trial suggest",
	}
	if diff := cmp.Diff(want, r.rejected); diff != "" {
		t.Errorf("rejected calls (-want +got)\n%s", diff)
	}
	if got := r.recorder.Buffered(); got != 5+5+5+60 {
		t.Errorf("%d calls are buffered, want the 75 admitted since the last flush", got)
	}
}

// TestCallsOfOtherReplicas checks that earlier usage in storage and usage of other
// replicas count.
func TestCallsOfOtherReplicas(t *testing.T) {
	t.Parallel()
	clock, store := clockAt(t, "2026-11-21T12:00:00Z"), &fakeStore{}
	a, b := newReplica(store, clock.now, newTrialPlan(5)), newReplica(store, clock.now, newTrialPlan(5))
	a.Refresh(t.Context())
	checkAdmitted(t, "first replica", a.calls(3, "trial", triageEndpoint), 3)
	if err := a.flush(); err != nil {
		t.Fatal(err)
	}
	b.Refresh(t.Context())
	checkAdmitted(t, "second replica after reading the totals", b.calls(9, "trial", triageEndpoint), 2)
	checkAdmitted(t, "first replica before reading the totals", a.calls(1, "trial", triageEndpoint), 1)
	for _, r := range []*replica{b, a} {
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
	}
	checkAdmitted(t, "first replica after reading the totals", a.calls(9, "trial", triageEndpoint), 0)
	checkAdmitted(t, "second replica after a flush", b.calls(9, "trial", triageEndpoint), 0)
	started := newReplica(store, clock.now, newTrialPlan(5))
	started.Refresh(t.Context())
	checkAdmitted(t, "newly started replica", started.calls(9, "trial", triageEndpoint), 0)
}

// TestLimitResetsEachMonth checks that limits apply to calendar months in UTC, and a
// rejected caller learns when the limit resets.
func TestLimitResetsEachMonth(t *testing.T) {
	t.Parallel()
	clock, store := clockAt(t, "2026-10-31T23:59:59Z"), &fakeStore{}
	r := newReplica(store, clock.now, newTrialPlan(2))
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
		*clock = *clockAt(t, step.now)
		checkAdmitted(t, step.now, r.calls(step.calls, "trial", triageEndpoint), step.admitted)
		if end, wait := r.Begin("trial", triageEndpoint, true); end != nil || wait != step.wait {
			t.Errorf("%s: rejected call must wait %v, want %v", step.now, wait, step.wait)
		}
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
		if len(r.accounts) > 1 {
			t.Errorf("%s: %d accounts are in memory, want 1", step.now, len(r.accounts))
		}
	}
}

// TestCallSpanningMonths checks that a call in progress at the end of a month counts in
// the month in which it completes, whichever month it was admitted in.
func TestCallSpanningMonths(t *testing.T) {
	t.Parallel()
	clock, store := clockAt(t, "2026-11-30T23:59:59Z"), &fakeStore{}
	r := newReplica(store, clock.now, newTrialPlan(3))
	r.Refresh(t.Context())
	end, _ := r.Begin("trial", triageEndpoint, true)
	clock.time = clock.time.Add(time.Second)
	checkAdmitted(t, "first call in December", r.calls(1, "trial", triageEndpoint), 1)
	end(true)
	for range 2 {
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
	}
	checkAdmitted(t, "remaining calls in December", r.calls(9, "trial", triageEndpoint), 1)
}

// TestUncountedCalls checks that calls in progress consume the limit, and failed ones
// release it. Calls that do not count consume nothing, but are rejected like all others.
func TestUncountedCalls(t *testing.T) {
	t.Parallel()
	r := newReplica(&fakeStore{}, clockAt(t, "2026-11-21T12:00:00Z").now, newTrialPlan(2))
	r.Refresh(t.Context())
	first, _ := r.Begin("trial", triageEndpoint, true)
	second, _ := r.Begin("trial", triageEndpoint, true)
	checkAdmitted(t, "with two calls in flight", r.calls(1, "trial", triageEndpoint), 0)
	first(false)
	second(true)
	for range 5 {
		end, wait := r.Begin("trial", triageEndpoint, false)
		if end == nil {
			t.Fatalf("uncounted call was rejected for %v", wait)
		}
		end(false)
	}
	checkAdmitted(t, "after a failed call", r.calls(2, "trial", triageEndpoint), 1)
	if end, _ := r.Begin("trial", triageEndpoint, false); end != nil {
		t.Error("uncounted call was admitted beyond the limit")
	}
	if got := r.recorder.Buffered(); got != 2 {
		t.Errorf("%d calls are counted, want 2", got)
	}
}

// TestStorageOutageAdmitsCalls checks that all calls are admitted while storage is down, and
// count once storage has recovered.
func TestStorageOutageAdmitsCalls(t *testing.T) {
	t.Parallel()
	store := &fakeStore{}
	store.setError(errDown)
	r := newReplica(store, clockAt(t, "2026-11-21T12:00:00Z").now, newTrialPlan(3))
	r.Refresh(t.Context())
	checkAdmitted(t, "before storage is up", r.calls(5, "trial", triageEndpoint), 5)
	if err := r.flush(); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	checkAdmitted(t, "after a failed flush", r.calls(5, "trial", triageEndpoint), 5)
	store.setError(nil)
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	checkAdmitted(t, "after storage is up", r.calls(5, "trial", triageEndpoint), 0)
	checkAdmitted(t, "another operation", r.calls(1, "trial", explainEndpoint), 1)
	store.setError(errDown)
	if err := r.flush(); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	checkAdmitted(t, "after storage is down again", r.calls(1, "trial", triageEndpoint), 1)
	store.setError(nil)
	store.totalsErr = errDown
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	checkAdmitted(t, "while totals cannot be read", r.calls(1, "trial", triageEndpoint), 1)
	store.totalsErr = nil
	r.Refresh(t.Context())
	checkAdmitted(t, "after totals were read", r.calls(5, "trial", triageEndpoint), 0)
	checkAdmitted(t, "the other operation", r.calls(5, "trial", explainEndpoint), 2)
	outcomes := slices.CompactFunc(r.readErrs, func(a, b error) bool { return (a == nil) == (b == nil) })
	if want := []error{errDown, nil, errDown, nil}; !slices.EqualFunc(outcomes, want, errors.Is) {
		t.Errorf("reads of totals returned %v, want %v", outcomes, want)
	}
}

// TestUncertainBatch checks that calls that storage accepted with an error do not count
// twice, even if totals are read before they are sent again.
func TestUncertainBatch(t *testing.T) {
	t.Parallel()
	store := &fakeStore{failAfterWrite: true}
	r := newReplica(store, clockAt(t, "2026-11-21T12:00:00Z").now, newTrialPlan(4))
	r.Refresh(t.Context())
	checkAdmitted(t, "before", r.calls(2, "trial", triageEndpoint), 2)
	store.setError(errDown)
	if err := r.flush(); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	store.setError(nil)
	r.Refresh(t.Context())
	checkAdmitted(t, "after storage recovered", r.calls(2, "trial", triageEndpoint), 2)
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	checkAdmitted(t, "after totals were read", r.calls(9, "trial", triageEndpoint), 0)
	if got := store.triageCalls(civil.Date{Year: 2026, Month: 11, Day: 21}); got != 4 {
		t.Errorf("storage has %d calls, want 4", got)
	}
}

// TestTotalsAreReadAfterFailure checks that totals are read even if no limited call is
// pending: a replica started while storage was down learns about the usage of others.
func TestTotalsAreReadAfterFailure(t *testing.T) {
	t.Parallel()
	clock, store := clockAt(t, "2026-11-21T12:00:00Z"), &fakeStore{}
	other := newReplica(store, clock.now, newTrialPlan(2))
	other.calls(2, "trial", triageEndpoint)
	if err := other.flush(); err != nil {
		t.Fatal(err)
	}
	r := newReplica(store, clock.now, newTrialPlan(2))
	store.setError(errDown)
	r.calls(1, "gold", triageEndpoint)
	if err := r.flush(); !errors.Is(err, errDown) {
		t.Fatal(err)
	}
	store.setError(nil)
	r.Refresh(t.Context())
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	checkAdmitted(t, "afterwards", r.calls(1, "trial", triageEndpoint), 0)
}

// TestCallsDuringFlush checks that a call that ends while others are being stored is not
// lost.
func TestCallsDuringFlush(t *testing.T) {
	t.Parallel()
	store := &fakeStore{}
	r := newReplica(store, clockAt(t, "2026-11-21T12:00:00Z").now, newTrialPlan(4))
	r.Refresh(t.Context())
	store.onAddUsage = func() { checkAdmitted(t, "during a flush", r.calls(1, "trial", triageEndpoint), 1) }
	checkAdmitted(t, "before", r.calls(1, "trial", triageEndpoint), 1)
	for range 2 {
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
	}
	checkAdmitted(t, "after two flushes", r.calls(9, "trial", triageEndpoint), 1)
}

// TestTotalsAreReadOnlyForLimitedCalls checks that totals are read only after calls that a
// limit applies to.
func TestTotalsAreReadOnlyForLimitedCalls(t *testing.T) {
	t.Parallel()
	store := &fakeStore{}
	r := newReplica(store, clockAt(t, "2026-11-21T12:00:00Z").now, newTrialPlan(3))
	for _, step := range []struct {
		application, endpoint string
		reads                 int
	}{
		{"trial", "POST /v3/diagnosis", 0}, {"gold", triageEndpoint, 0}, {"trial", triageEndpoint, 1}, {"trial", "GET /v3/info", 1},
	} {
		r.call(step.application, step.endpoint)
		if err := r.flush(); err != nil {
			t.Fatal(err)
		}
		if store.reads != step.reads {
			t.Errorf("after %s by %s: totals were read %d times, want %d", step.endpoint, step.application, store.reads, step.reads)
		}
	}
}

// TestPlanChangeTakesEffect checks that plan changes take effect immediately, including
// for earlier calls.
func TestPlanChangeTakesEffect(t *testing.T) {
	t.Parallel()
	r := newReplica(&fakeStore{}, clockAt(t, "2026-11-21T12:00:00Z").now, nil)
	r.Refresh(t.Context())
	checkAdmitted(t, "without plans", r.calls(10, "trial", triageEndpoint), 10)
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	r.plans = newTrialPlan(12)
	checkAdmitted(t, "with a plan", r.calls(10, "trial", triageEndpoint), 2)
	r.plans = newTrialPlan(15)
	checkAdmitted(t, "with a larger limit", r.calls(10, "trial", triageEndpoint), 3)
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	r.plans = newTrialPlan(0)
	checkAdmitted(t, "with a limit of zero", r.calls(10, "trial", triageEndpoint), 0)
	r.plans = Plans{"trial": {}}
	checkAdmitted(t, "with a plan without limits", r.calls(10, "trial", triageEndpoint), 10)
}

// TestConcurrentCalls checks that for any number of concurrent calls and flushes,
// exactly as many are admitted as the limit allows.
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	const callers, calls, limit = 8, 400, 1000
	r := newReplica(&fakeStore{}, clockAt(t, "2026-11-21T12:00:00Z").now, newTrialPlan(limit))
	r.OnRejected = func(string, Operation) {}
	r.Refresh(t.Context())
	var admitted, failed atomic.Int64
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for i := range calls {
				end, _ := r.Begin("trial", triageEndpoint, true)
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
		t.Errorf("%d calls were admitted and %d failed, want %d admitted and some failed", admitted.Load(), failed.Load(), limit)
	}
	total, err := r.Store.ListUsageTotals(t.Context(), civil.Date{Year: 2026, Month: 11, Day: 1}, civil.Date{Year: 2026, Month: 11, Day: 30}, []string{triageEndpoint})
	if err != nil || len(total) != 1 || total[0].Calls != limit {
		t.Errorf("got totals %v, error %v, want %d calls", total, err, limit)
	}
}

func BenchmarkBegin(b *testing.B) {
	r := newReplica(&fakeStore{}, time.Now, newTrialPlan(1<<62))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r.call("trial", triageEndpoint)
		}
	})
}
