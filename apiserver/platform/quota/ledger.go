// SPDX-License-Identifier: Apache-2.0

// Package quota enforces the monthly limits of applications' plans. It sits between the
// usage recorder and storage, so that it knows which calls are in storage. The usage of an
// application is the total last read from storage, plus this process's calls not in that
// total, plus the calls in progress.
//
// Calls never wait for storage. Calls of other processes become visible after they flush
// and this process reads the totals, so each process may exceed a limit by the calls of one
// flush. While storage is down, all calls are admitted. The middleware MeterUsage calls
// this package for each request, and package server reads the files that define plans.
package quota

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

// Recorder counts calls for storage. *usage.Recorder implements it.
type Recorder interface {
	// Count adds a call and returns the day on which it was counted.
	Count(application, endpoint string) civil.Date
}

// Store stores counts and returns totals. Every storage.Store implements it.
type Store interface {
	AddUsage(ctx context.Context, batch usage.Batch) error
	ListUsageTotals(ctx context.Context, from, to civil.Date, endpoints []string) ([]usage.Total, error)
}

// Options configure a Ledger. All fields are required.
type Options struct {
	Recorder Recorder
	Store    Store
	// PlanFor returns the name and limits of an application's plan, which may change.
	PlanFor func(application string) (name string, limits Limits)
	Now     func() time.Time
	// OnRejected is called for each rejected call.
	OnRejected func(plan string, service Operation)
	// OnTotalsRead is called after each read of totals, with nil for success.
	OnTotalsRead func(err error)
}

// Ledger keeps the accounts of applications. The Recorder uses it as its store. It is
// safe for concurrent use.
type Ledger struct {
	Options
	// storeMu is held while accessing storage, so that the accounts match the totals. No
	// call waits for it. It guards the next field.
	storeMu sync.Mutex
	// lastBatchUncertain is set if storage may have accepted the last batch although it
	// returned an error. Its calls are counted here, and possibly in the totals as well.
	lastBatchUncertain bool

	mu sync.Mutex
	// totalsFresh is set if the last access to storage succeeded.
	totalsFresh bool
	accounts    map[key]*account
}

// key identifies a service used by an application in a month, given as its first day.
type key struct {
	month       civil.Date
	application string
	operation   Operation
}

// account tracks the calls that count together.
type account struct {
	total    int64 // in storage at the last read
	counted  int64 // counted here but not in total
	stored   int64 // the part of counted now in storage
	inFlight int64 // admitted here and not yet counted
}

func (a *account) used() int64 { return a.total + a.counted + a.inFlight }

// NewLedger returns an empty ledger.
func NewLedger(o Options) *Ledger {
	return &Ledger{Options: o, accounts: map[key]*account{}}
}

// Begin admits a call of an application to an endpoint, such as "POST /v3/triage",
// unless the limit of its plan is reached. In that case end is nil and wait is the time
// until the limit resets. For an admitted call, the caller must call end once and pass
// whether the call counts as usage. If counts is false, the call is checked against the
// limit but does not consume it.
func (l *Ledger) Begin(application, endpoint string, counts bool) (end func(counted bool), wait time.Duration) {
	service, limited := operations[endpoint]
	if !limited {
		return func(counted bool) {
			if counted {
				l.Recorder.Count(application, endpoint)
			}
		}, 0
	}
	now := l.Now()
	today := civil.DateOf(now)
	account, ok := l.admit(key{firstOfMonth(today), application, service}, counts)
	if !ok {
		return nil, firstOfNextMonth(today).Time().Sub(now)
	}
	return func(counted bool) { l.end(account, application, endpoint, counts, counted) }, 0
}

// admit returns the account of the call, and reports whether the call is admitted.
func (l *Ledger) admit(k key, counts bool) (*account, bool) {
	plan, limits := l.PlanFor(k.application)
	limit := limits.For(k.operation)
	l.mu.Lock()
	account := l.account(k)
	ok := limit == nil || !l.totalsFresh || account.used() < *limit
	if ok && counts {
		account.inFlight++
	}
	l.mu.Unlock()
	if !ok {
		l.OnRejected(plan, k.operation)
	}
	return account, ok
}

// end counts a call in the same month as the recorder. A flush may happen between the
// two; the account tolerates this because the call is still in flight.
func (l *Ledger) end(admitted *account, application, endpoint string, counts, counted bool) {
	var day civil.Date
	if counted {
		day = l.Recorder.Count(application, endpoint)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if counts {
		admitted.inFlight--
	}
	if counted {
		l.account(key{firstOfMonth(day), application, operations[endpoint]}).counted++
	}
}

// AddUsage passes a batch to storage. It then reads the totals of the month if any
// count is limited or the totals are stale. The error is storage's for the batch; the
// caller must send the batch again until it succeeds.
func (l *Ledger) AddUsage(ctx context.Context, batch usage.Batch) error {
	l.storeMu.Lock()
	defer l.storeMu.Unlock()
	if err := l.Store.AddUsage(ctx, batch); err != nil {
		l.lastBatchUncertain = true
		l.markStale()
		return err
	}
	if limited := l.recordStored(batch.Counts); limited || l.lastBatchUncertain {
		l.OnTotalsRead(l.readTotals(ctx))
	}
	l.lastBatchUncertain = false
	return nil
}

// Refresh reads the totals of the month, for use when storage becomes available. If
// the totals might count calls twice, it leaves the read to the next batch.
func (l *Ledger) Refresh(ctx context.Context) {
	l.storeMu.Lock()
	defer l.storeMu.Unlock()
	if !l.lastBatchUncertain {
		l.OnTotalsRead(l.readTotals(ctx))
	}
}

// recordStored records the stored counts, and reports whether a limit applies to any of them.
func (l *Ledger) recordStored(counts []usage.Count) (limited bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, count := range counts {
		service, metered := operations[count.Endpoint]
		if !metered {
			continue
		}
		l.account(key{firstOfMonth(count.Date), count.Application, service}).stored += count.Calls
		_, limits := l.PlanFor(count.Application)
		limited = limited || limits.For(service) != nil
	}
	return limited
}

// readTotals reads the totals of the current month from storage. The caller must hold
// storeMu.
func (l *Ledger) readTotals(ctx context.Context) error {
	month := firstOfMonth(civil.DateOf(l.Now()))
	totals, err := l.Store.ListUsageTotals(ctx, month, firstOfNextMonth(month).AddDays(-1), limitedEndpoints)
	if err != nil {
		l.markStale()
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, a := range l.accounts {
		if k.month == month {
			a.total, a.counted, a.stored = 0, a.counted-a.stored, 0
		}
	}
	for _, total := range totals {
		l.account(key{month, total.Application, operations[total.Endpoint]}).total += total.Calls
	}
	l.totalsFresh = true
	return nil
}

// markStale admits all calls until the totals have been read again.
func (l *Ledger) markStale() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totalsFresh = false
}

// account returns the account of a key. If it is missing, account creates it and removes
// the accounts of past months; calls in flight keep a reference to their account. The
// caller must hold mu.
func (l *Ledger) account(k key) *account {
	a, exists := l.accounts[k]
	if !exists {
		maps.DeleteFunc(l.accounts, func(existing key, _ *account) bool { return existing.month.Compare(k.month) < 0 })
		a = &account{}
		l.accounts[k] = a
	}
	return a
}

func firstOfMonth(date civil.Date) civil.Date {
	date.Day = 1
	return date
}

// firstOfNextMonth returns the first day of the month after date.
func firstOfNextMonth(date civil.Date) civil.Date {
	return civil.DateOf(firstOfMonth(date).Time().AddDate(0, 1, 0))
}
