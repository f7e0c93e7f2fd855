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

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/usage"
)

var errDown = errors.New("connection refused")

// memory is storage that replicas share, and that is down while err is set: it
// then takes no counts or, when late is set, takes them without saying so.
type memory struct {
	mu     sync.Mutex
	err    error  // of both
	late   bool   // err comes after the counts are taken
	unread error  // of totals only
	during func() // is called while counts are taken, if set
	counts []storage.UsageCount
	last   map[string]int64 // the number of the last batch, by recorder
	reads  int
}

func (m *memory) AddUsage(_ context.Context, batch storage.UsageBatch) error {
	if m.during != nil {
		m.during()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if (m.err == nil || m.late) && batch.Number > m.last[batch.Recorder] {
		if m.last == nil {
			m.last = map[string]int64{}
		}
		m.last[batch.Recorder] = batch.Number
		m.counts = append(m.counts, batch.Counts...)
	}
	return m.err
}

// triaged is how many calls to /v3/triage storage has of the month of a date.
func (m *memory) triaged(date civil.Date) (calls int) {
	for _, c := range m.counts {
		if c.Endpoint == triage && firstDay(c.Date) == firstDay(date) {
			calls += int(c.Calls)
		}
	}
	return calls
}

func (m *memory) UsageTotals(_ context.Context, from, to civil.Date, endpoints []string) ([]storage.UsageTotal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	if err := errors.Join(m.err, m.unread); err != nil {
		return nil, err
	}
	sums := map[[2]string]int64{}
	for _, c := range m.counts {
		if c.Date.Compare(from) >= 0 && c.Date.Compare(to) <= 0 && slices.Contains(endpoints, c.Endpoint) {
			sums[[2]string{c.Application, c.Endpoint}] += c.Calls
		}
	}
	var totals []storage.UsageTotal
	for names, calls := range sums {
		totals = append(totals, storage.UsageTotal{Application: names[0], Endpoint: names[1], Calls: calls})
	}
	return totals, nil
}

func (m *memory) be(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err = err
}

// replica is a ledger with the recorder that flushes to it. Applications have
// the plan of their name.
type replica struct {
	*Ledger
	recorder *usage.Recorder
	plans    Plans
	refused  []string
	readings []error
}

func newReplica(store Store, now func() time.Time, plans Plans) *replica {
	r := &replica{recorder: usage.NewRecorder(now), plans: plans}
	r.Ledger = NewLedger(Options{
		Recorder: r.recorder, Store: store, Now: now,
		Plan:    func(application string) (string, Limits) { return application, r.plans[application] },
		Refused: func(plan string, service Service) { r.refused = append(r.refused, fmt.Sprint(plan, " ", service)) },
		Read:    func(err error) { r.readings = append(r.readings, err) },
	})
	return r
}

func (r *replica) flush() error { return r.recorder.Flush(context.Background(), r.Ledger) }

// call makes a call that counts, and says whether it was admitted.
func (r *replica) call(application, endpoint string) bool {
	end, _ := r.Begin(application, endpoint, true)
	if end != nil {
		end(true)
	}
	return end != nil
}

// calls makes so many calls, and says how many were admitted.
func (r *replica) calls(n int, application, endpoint string) (admitted int) {
	for range n {
		if r.call(application, endpoint) {
			admitted++
		}
	}
	return admitted
}

// clock is a time that tests move.
type clock struct{ time time.Time }

func (c *clock) now() time.Time { return c.time }

func at(t testing.TB, text string) *clock {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return &clock{parsed}
}
