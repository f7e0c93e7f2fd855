// SPDX-License-Identifier: Apache-2.0

// Package quota judges the calls of applications by the monthly limits of their
// plans. It stands between those who count calls and storage, so that it knows
// which of them storage has: what an application has used is the total last
// read back from storage, the calls of this process that the total does not
// have, and those under way.
//
// Storage is never waited for. Calls of other processes are seen with their
// next flush and the reading that follows ours, so that a limit may be overshot
// by one flush of each. While storage is down all calls pass. HTTP and the
// files that plans come from live elsewhere.
package quota

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// Recorder counts calls for storage; *usage.Recorder is one.
type Recorder interface {
	// Count adds a call and returns the day on which it did.
	Count(application, endpoint string) civil.Date
}

// Store is where counts go and totals come from; every storage.Store is one.
type Store interface {
	AddUsage(ctx context.Context, batch storage.UsageBatch) error
	UsageTotals(ctx context.Context, from, to civil.Date, endpoints []string) ([]storage.UsageTotal, error)
}

// Options are what a Ledger stands on. All are required.
type Options struct {
	Recorder Recorder
	Store    Store
	// Plan returns the name and the limits of an application's plan, which may
	// change.
	Plan func(application string) (name string, limits Limits)
	Now  func() time.Time
	// Refused is told of each call that is refused.
	Refused func(plan string, service Service)
	// Read is told how each reading of totals went, nil for success.
	Read func(err error)
}

// Ledger keeps the accounts of applications. Between a Recorder and storage it
// is what the Recorder takes for the store. It is safe for concurrent use.
type Ledger struct {
	Options
	// storing is held while storage is told or asked, so that what is entered
	// is what the totals have. No call waits for it. It guards what follows.
	storing sync.Mutex
	// unsure says that storage may have taken the last batch and failed to say
	// so: then its calls are counted here, and in the totals perhaps as well.
	unsure bool

	mu sync.Mutex
	// current says that storage did what it was last asked to.
	current  bool
	accounts map[key]*account
}

// key is a service to an application in a month, which is its first day.
type key struct {
	month       civil.Date
	application string
	service     Service
}

// account is what is known of the calls that count together.
type account struct {
	total    int64 // those that storage had when it was last read
	counted  int64 // those counted here that the total does not have
	stored   int64 // of these, the ones that storage has by now
	underWay int64 // those that were admitted here and are not counted yet
}

func (a *account) used() int64 { return a.total + a.counted + a.underWay }

// NewLedger makes a ledger that knows of no calls.
func NewLedger(o Options) *Ledger {
	return &Ledger{Options: o, accounts: map[key]*account{}}
}

// Begin admits a call of an application to an endpoint, such as "POST
// /v3/triage", unless the limit of its plan is reached: then it returns how
// long that will last. The end of an admitted call has to be called once, with
// whether the call counts as usage. One that begins as not counting is judged
// as the others are and takes up nothing.
func (l *Ledger) Begin(application, endpoint string, counts bool) (end func(counted bool), wait time.Duration) {
	service, limited := services[endpoint]
	if !limited {
		return func(counted bool) {
			if counted {
				l.Recorder.Count(application, endpoint)
			}
		}, 0
	}
	now := l.Now()
	today := civil.DateOf(now)
	own, ok := l.admit(key{firstDay(today), application, service}, counts)
	if !ok {
		return nil, nextMonth(today).Time().Sub(now)
	}
	return func(counted bool) { l.end(own, application, endpoint, counts, counted) }, 0
}

// admit returns the account in which the call is under way.
func (l *Ledger) admit(k key, counts bool) (*account, bool) {
	plan, limits := l.Plan(k.application)
	limit := limits.Of(k.service)
	l.mu.Lock()
	own := l.account(k)
	ok := limit == nil || !l.current || own.used() < *limit
	if ok && counts {
		own.underWay++
	}
	l.mu.Unlock()
	if !ok {
		l.Refused(plan, k.service)
	}
	return own, ok
}

// end counts a call in the month that the recorder counts it in. Between that
// and the entry here a flush may come, which the account bears: until then the
// call is still under way.
func (l *Ledger) end(begun *account, application, endpoint string, counts, counted bool) {
	var day civil.Date
	if counted {
		day = l.Recorder.Count(application, endpoint)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if counts {
		begun.underWay--
	}
	if counted {
		l.account(key{firstDay(day), application, services[endpoint]}).counted++
	}
}

// AddUsage hands a batch on to storage, and then reads the totals of the month if
// any of its counts is limited, or nobody could before. Its error is that of
// storage about the batch, which has to be handed on again until there is none.
func (l *Ledger) AddUsage(ctx context.Context, batch storage.UsageBatch) error {
	l.storing.Lock()
	defer l.storing.Unlock()
	if err := l.Store.AddUsage(ctx, batch); err != nil {
		l.unsure = true
		l.outdated()
		return err
	}
	if limited := l.enter(batch.Counts); limited || l.unsure {
		l.Read(l.read(ctx))
	}
	l.unsure = false
	return nil
}

// Refresh reads the totals of the month, as is due once storage is there. It
// leaves that to the next batch where the totals could hold calls twice.
func (l *Ledger) Refresh(ctx context.Context) {
	l.storing.Lock()
	defer l.storing.Unlock()
	if !l.unsure {
		l.Read(l.read(ctx))
	}
}

// enter notes what storage has by now, and reports whether any of it is
// limited.
func (l *Ledger) enter(counts []storage.UsageCount) (limited bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, count := range counts {
		service, metered := services[count.Endpoint]
		if !metered {
			continue
		}
		l.account(key{firstDay(count.Date), count.Application, service}).stored += count.Calls
		_, limits := l.Plan(count.Application)
		limited = limited || limits.Of(service) != nil
	}
	return limited
}

// read takes the totals of the current month from storage. Storing is locked.
func (l *Ledger) read(ctx context.Context) error {
	month := firstDay(civil.DateOf(l.Now()))
	totals, err := l.Store.UsageTotals(ctx, month, nextMonth(month).AddDays(-1), endpoints)
	if err != nil {
		l.outdated()
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
		l.account(key{month, total.Application, services[total.Endpoint]}).total += total.Calls
	}
	l.current = true
	return nil
}

// outdated lets calls pass until storage does again what it is asked to.
func (l *Ledger) outdated() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = false
}

// account is made when it is not there, and those of past months are forgotten
// then: who still has a call under way there holds it. The lock is held.
func (l *Ledger) account(k key) *account {
	a, exists := l.accounts[k]
	if !exists {
		maps.DeleteFunc(l.accounts, func(other key, _ *account) bool { return other.month.Compare(k.month) < 0 })
		a = &account{}
		l.accounts[k] = a
	}
	return a
}

func firstDay(date civil.Date) civil.Date {
	date.Day = 1
	return date
}

// nextMonth is the first day of the month after that of the date.
func nextMonth(date civil.Date) civil.Date {
	return civil.DateOf(firstDay(date).Time().AddDate(0, 1, 0))
}
