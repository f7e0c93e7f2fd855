// SPDX-License-Identifier: Apache-2.0

// Package usage counts the calls of applications in memory and flushes the counts to
// storage asynchronously. Counting takes no lock and never waits for storage. While
// storage is down, the recorder keeps one count per day, application and endpoint, and
// loses none. Package quota enforces limits.
package usage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

// Store stores counts. Every storage.Store implements it.
type Store interface {
	// AddUsage adds a batch exactly once, however often it is sent. Its errors are
	// temporary, unless they wrap ErrInvalid.
	AddUsage(ctx context.Context, batch Batch) error
}

// Recorder holds the counts not yet written to storage. It is safe for concurrent use.
type Recorder struct {
	now func() time.Time
	id  string
	// counts maps each key to an *atomic.Int64.
	counts sync.Map
	// flushMu is held by Flush and guards the next two fields.
	flushMu sync.Mutex
	// batchNumber is the number of batches so far. pendingBatch is the last batch, until a
	// store is known to have accepted it.
	batchNumber  int64
	pendingBatch *Batch
	// pendingCalls is the number of calls in the pending batch.
	pendingCalls atomic.Int64
	// today caches the current day, so that counting does not compute it.
	today atomic.Pointer[day]
}

type key struct {
	date                  civil.Date
	application, endpoint string
}

// day is a date and the range of Unix seconds that it spans.
type day struct {
	date     civil.Date
	from, to int64
}

// NewRecorder returns a recorder that uses now to determine the day of a call.
func NewRecorder(now func() time.Time) *Recorder {
	return &Recorder{now: now, id: uuid.NewString()}
}

// Count adds one call of an application to an endpoint, such as "POST /v3/diagnosis",
// on the current UTC day, which it returns.
func (r *Recorder) Count(application, endpoint string) civil.Date {
	today := r.currentDate()
	r.counter(key{today, application, endpoint}).Add(1)
	return today
}

// Buffered returns the number of calls not known to be in storage.
func (r *Recorder) Buffered() int64 {
	calls := r.pendingCalls.Load()
	r.counts.Range(func(_, counter any) bool {
		calls += counter.(*atomic.Int64).Load()
		return true
	})
	return calls
}

// Flush writes all counts to the store. If the store fails, the next Flush sends the
// same batch again, because the store may have accepted it. Counts that no store can
// accept are dropped, and the error reports them.
func (r *Recorder) Flush(ctx context.Context, store Store) error {
	r.flushMu.Lock()
	defer r.flushMu.Unlock()
	if err := r.sendBatch(ctx, store); err != nil {
		return err
	}
	counts, invalid := dropInvalid(r.drain())
	if len(counts) == 0 {
		return invalid
	}
	r.batchNumber++
	r.pendingBatch = &Batch{Recorder: r.id, Sequence: r.batchNumber, Counts: counts}
	r.pendingCalls.Store(totalCalls(counts))
	return errors.Join(invalid, r.sendBatch(ctx, store))
}

// sendBatch sends the pending batch, if any, and clears it once the store has accepted it.
func (r *Recorder) sendBatch(ctx context.Context, store Store) error {
	if r.pendingBatch == nil {
		return nil
	}
	if err := store.AddUsage(ctx, *r.pendingBatch); err != nil {
		return fmt.Errorf("storing usage counts (will retry): %w", err)
	}
	r.pendingBatch = nil
	r.pendingCalls.Store(0)
	return nil
}

// flushTimeout is the timeout of each Flush in Run.
const flushTimeout = 10 * time.Second

// Run flushes at every interval until the context is done, then flushes once more and
// returns that flush's error. It reports each flush, with nil for success. Run does
// not abort a flush in progress when the context ends, because the store may already
// have accepted it.
func (r *Recorder) Run(ctx context.Context, store Store, interval time.Duration, report func(error)) error {
	flush := func() error {
		if r.Buffered() == 0 {
			return nil
		}
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
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
			_ = flush() // reported, and retried at the next interval
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

// drain empties the counters. It removes counters of past days after a full day, when
// no call can still hold one.
func (r *Recorder) drain() []Count {
	var counts []Count
	yesterday := r.currentDate().AddDays(-1)
	r.counts.Range(func(k, counter any) bool {
		key := k.(key)
		if calls := counter.(*atomic.Int64).Swap(0); calls > 0 {
			counts = append(counts, Count{
				Date: key.date, Application: key.application, Endpoint: key.endpoint, Calls: calls,
			})
		} else if key.date.Compare(yesterday) < 0 {
			r.counts.Delete(k)
		}
		return true
	})
	return counts
}

// dropInvalid removes counts that every store rejects, so that they do not block the
// others.
func dropInvalid(counts []Count) (kept []Count, dropped error) {
	for _, c := range counts {
		if err := c.Validate(); err != nil {
			dropped = errors.Join(dropped, fmt.Errorf("dropping invalid usage count: %w", err))
			continue
		}
		kept = append(kept, c)
	}
	return kept, dropped
}

func totalCalls(counts []Count) (calls int64) {
	for _, c := range counts {
		calls += c.Calls
	}
	return calls
}

// currentDate returns the current day, which it computes once a day.
func (r *Recorder) currentDate() civil.Date {
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
