// SPDX-License-Identifier: Apache-2.0

// Package usage counts the calls of applications in memory and hands the
// counts to storage behind the answers. Counting takes no lock and never waits
// for storage; while storage is down counts are kept, one number for each day,
// application and endpoint, and none is lost. Limits are judged in package quota.
package usage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// Store is where counts go; every storage.Store is one.
type Store interface {
	// AddUsage adds a batch once, however often it is sent. Its errors, those
	// that wrap storage.ErrInvalidUsage excepted, may pass.
	AddUsage(ctx context.Context, batch storage.UsageBatch) error
}

// Recorder holds the counts that storage does not have yet. It is safe for
// concurrent use.
type Recorder struct {
	now func() time.Time
	id  string
	// counts has a *atomic.Int64 for each key.
	counts sync.Map
	// flush is held by Flush, to which the next two belong.
	flush sync.Mutex
	// batches is how many there have been, batch the last one until a store is
	// known to have it.
	batches int64
	batch   *storage.UsageBatch
	// sent is how many calls are in the batch.
	sent atomic.Int64
	// today is what a key would need a computation for: the day of now.
	today atomic.Pointer[day]
}

type key struct {
	date                  civil.Date
	application, endpoint string
}

// day is a date and the seconds since the epoch that it spans.
type day struct {
	date     civil.Date
	from, to int64
}

// NewRecorder makes a recorder that asks now for the day of a call.
func NewRecorder(now func() time.Time) *Recorder {
	return &Recorder{now: now, id: uuid.NewString()}
}

// Count adds one call of an application to an endpoint, such as
// "POST /v3/diagnosis", on the current day in UTC, which it returns.
func (r *Recorder) Count(application, endpoint string) civil.Date {
	today := r.date()
	r.counter(key{today, application, endpoint}).Add(1)
	return today
}

// Buffered is how many calls storage does not know of yet.
func (r *Recorder) Buffered() int64 {
	calls := r.sent.Load()
	r.counts.Range(func(_, counter any) bool {
		calls += counter.(*atomic.Int64).Load()
		return true
	})
	return calls
}

// Flush hands all counts to the store. A batch that the store fails to take is
// sent again as it is by the next Flush, since nobody may know whether it was
// taken. Counts that no store will ever take are dropped, and the error says
// so.
func (r *Recorder) Flush(ctx context.Context, store Store) error {
	r.flush.Lock()
	defer r.flush.Unlock()
	if err := r.send(ctx, store); err != nil {
		return err
	}
	counts, invalid := valid(r.take())
	if len(counts) == 0 {
		return invalid
	}
	r.batches++
	r.batch = &storage.UsageBatch{Recorder: r.id, Number: r.batches, Counts: counts}
	r.sent.Store(sum(counts))
	return errors.Join(invalid, r.send(ctx, store))
}

// send sends the batch, if there is one, and forgets it once the store has it.
func (r *Recorder) send(ctx context.Context, store Store) error {
	if r.batch == nil {
		return nil
	}
	if err := store.AddUsage(ctx, *r.batch); err != nil {
		return fmt.Errorf("storing usage counts, which are kept for another try: %w", err)
	}
	r.batch = nil
	r.sent.Store(0)
	return nil
}

// patience is how long a store may take for one Flush of Run.
const patience = 10 * time.Second

// Run flushes at every interval until the context ends, and then once more,
// whose error it returns. It tells report how each flush went, nil for success.
// A flush that is under way when the context ends is not broken off, since
// nobody could say whether the store has taken it.
func (r *Recorder) Run(ctx context.Context, store Store, interval time.Duration, report func(error)) error {
	flush := func() error {
		if r.Buffered() == 0 {
			return nil
		}
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		err := r.Flush(limited, store)
		report(err)
		return err
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return flush()
		case <-ticker.C:
			_ = flush() // reported, and tried again
		}
	}
}

func (r *Recorder) counter(k key) *atomic.Int64 {
	if counter, ok := r.counts.Load(k); ok {
		return counter.(*atomic.Int64)
	}
	counter, _ := r.counts.LoadOrStore(k, new(atomic.Int64))
	return counter.(*atomic.Int64)
}

// take empties the counters. Those of past days are forgotten too, once a day
// has gone by in which a call that had still taken hold of one has counted.
func (r *Recorder) take() []storage.UsageCount {
	var counts []storage.UsageCount
	yesterday := r.date().AddDays(-1)
	r.counts.Range(func(k, counter any) bool {
		key := k.(key)
		if calls := counter.(*atomic.Int64).Swap(0); calls > 0 {
			counts = append(counts, storage.UsageCount{
				Date: key.date, Application: key.application, Endpoint: key.endpoint, Calls: calls,
			})
		} else if key.date.Compare(yesterday) < 0 {
			r.counts.Delete(k)
		}
		return true
	})
	return counts
}

// valid takes out the counts that every store refuses, so that one of them
// cannot hold up the others for ever.
func valid(counts []storage.UsageCount) (kept []storage.UsageCount, dropped error) {
	for _, c := range counts {
		if err := c.Validate(); err != nil {
			dropped = errors.Join(dropped, fmt.Errorf("dropping a usage count: %w", err))
			continue
		}
		kept = append(kept, c)
	}
	return kept, dropped
}

func sum(counts []storage.UsageCount) (calls int64) {
	for _, c := range counts {
		calls += c.Calls
	}
	return calls
}

// date is the current day, computed once a day.
func (r *Recorder) date() civil.Date {
	now := r.now()
	seconds := now.Unix()
	if today := r.today.Load(); today != nil && today.from <= seconds && seconds < today.to {
		return today.date
	}
	date := civil.DateOf(now)
	from := date.Time().Unix()
	r.today.Store(&day{date, from, from + 24*60*60})
	return date
}
