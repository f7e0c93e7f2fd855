// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

var errDown = errors.New("connection refused")

// fakeStore is storage shared by replicas. While err is set, it is down: it rejects counts
// or, if failAfterWrite is set, accepts them but returns err.
type fakeStore struct {
	mu             sync.Mutex
	err            error  // returned by both methods
	failAfterWrite bool   // return err after accepting the counts
	totalsErr      error  // returned by ListUsageTotals only
	onAddUsage     func() // called by AddUsage, if set
	counts         []usage.Count
	lastBatch      map[string]int64 // sequence of the last batch, by recorder
	reads          int
}

func (s *fakeStore) AddUsage(_ context.Context, batch usage.Batch) error {
	if s.onAddUsage != nil {
		s.onAddUsage()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if (s.err == nil || s.failAfterWrite) && batch.Sequence > s.lastBatch[batch.Recorder] {
		if s.lastBatch == nil {
			s.lastBatch = map[string]int64{}
		}
		s.lastBatch[batch.Recorder] = batch.Sequence
		s.counts = append(s.counts, batch.Counts...)
	}
	return s.err
}

// triageCalls returns the number of /v3/triage calls in storage for the month of a
// date.
func (s *fakeStore) triageCalls(date civil.Date) (calls int) {
	for _, c := range s.counts {
		if c.Endpoint == triageEndpoint && firstOfMonth(c.Date) == firstOfMonth(date) {
			calls += int(c.Calls)
		}
	}
	return calls
}

func (s *fakeStore) ListUsageTotals(_ context.Context, from, to civil.Date, endpoints []string) ([]usage.Total, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if err := errors.Join(s.err, s.totalsErr); err != nil {
		return nil, err
	}
	sums := map[[2]string]int64{}
	for _, c := range s.counts {
		if c.Date.Compare(from) >= 0 && c.Date.Compare(to) <= 0 && slices.Contains(endpoints, c.Endpoint) {
			sums[[2]string{c.Application, c.Endpoint}] += c.Calls
		}
	}
	var totals []usage.Total
	for names, calls := range sums {
		totals = append(totals, usage.Total{Application: names[0], Endpoint: names[1], Calls: calls})
	}
	return totals, nil
}

func (s *fakeStore) setError(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// replica is a ledger with the recorder that flushes to it. Each application has the
// plan of the same name.
type replica struct {
	*Ledger
	recorder *usage.Recorder
	plans    Plans
	rejected []string
	readErrs []error
}

func newReplica(store Store, now func() time.Time, plans Plans) *replica {
	r := &replica{recorder: usage.NewRecorder(now), plans: plans}
	r.Ledger = NewLedger(Options{
		Recorder: r.recorder, Store: store, Now: now,
		PlanFor:      func(application string) (string, Limits) { return application, r.plans[application] },
		OnRejected:   func(plan string, service Operation) { r.rejected = append(r.rejected, fmt.Sprint(plan, " ", service)) },
		OnTotalsRead: func(err error) { r.readErrs = append(r.readErrs, err) },
	})
	return r
}

func (r *replica) flush() error { return r.recorder.Flush(context.Background(), r.Ledger) }

// call makes a counted call and reports whether it was admitted.
func (r *replica) call(application, endpoint string) bool {
	end, _ := r.Begin(application, endpoint, true)
	if end != nil {
		end(true)
	}
	return end != nil
}

// calls makes a number of calls and returns how many were admitted.
func (r *replica) calls(n int, application, endpoint string) (admitted int) {
	for range n {
		if r.call(application, endpoint) {
			admitted++
		}
	}
	return admitted
}

// fakeClock is a clock controlled by tests.
type fakeClock struct{ time time.Time }

func (c *fakeClock) now() time.Time { return c.time }

func clockAt(t testing.TB, text string) *fakeClock {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return &fakeClock{parsed}
}
