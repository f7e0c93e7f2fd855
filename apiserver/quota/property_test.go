// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
)

// month is what is true of the calls in a month.
type month struct {
	counted int // calls that were answered and count
	stored  int // of them, those that storage has
}

// view is what a replica can know of a month.
type view struct {
	read     int // what storage had when this replica last read it
	counted  int // calls counted here since, storage has some of them
	stored   int // of them, those that storage has
	underWay int
}

// world is replicas under test beside what is true.
type world struct {
	clock    *clock
	store    *memory
	limit    int
	replicas []*replica
	months   map[civil.Date]*month
	views    []map[civil.Date]*view
	current  []bool
	unsure   []bool // whether storage may have what the replica will send again
	pending  []pending
}

// pending is a call that was admitted and has not ended.
type pending struct {
	replica int
	month   civil.Date
	end     func(bool)
}

func of[V any](m map[civil.Date]*V, date civil.Date) *V {
	date.Day = 1
	if m[date] == nil {
		m[date] = new(V)
	}
	return m[date]
}

func (w *world) today() civil.Date { return civil.DateOf(w.clock.time) }

// begin checks that a call is refused if and only if what the replica can know
// reaches the limit, and that it is then reached in truth.
func (w *world) begin(t *rapid.T, i int) {
	truth, known := of(w.months, w.today()), of(w.views[i], w.today())
	knows := known.read + known.counted + known.underWay
	end, wait := w.replicas[i].Begin("trial", triage, true)
	if refused := w.current[i] && knows >= w.limit; refused != (end == nil) {
		t.Fatalf("replica %d knows of %d calls and refused is %v, the limit is %d", i, knows, end == nil, w.limit)
	}
	if end == nil {
		underWay := 0
		for _, call := range w.pending {
			if of(w.months, call.month) == truth {
				underWay++
			}
		}
		if truth.counted+underWay < w.limit {
			t.Fatalf("refused with %d calls counted and %d under way, the limit is %d", truth.counted, underWay, w.limit)
		}
		if next := w.clock.time.Add(wait); next.Day() != 1 || next.Truncate(24*time.Hour) != next {
			t.Fatalf("to wait until %v", next)
		}
		return
	}
	hidden := truth.stored - known.read - known.stored // flushed by others since the last reading
	for j, views := range w.views {
		if other := of(views, w.today()); j != i {
			hidden += other.counted - other.stored + other.underWay
		}
	}
	if w.current[i] && truth.counted >= w.limit+hidden {
		t.Fatalf("admitted after %d calls of which only %d were hidden, the limit is %d", truth.counted, hidden, w.limit)
	}
	known.underWay++
	w.pending = append(w.pending, pending{i, w.today(), end})
}

// finish ends the oldest call.
func (w *world) finish(counted bool) {
	if len(w.pending) == 0 {
		return
	}
	call := w.pending[0]
	w.pending = w.pending[1:]
	call.end(counted)
	of(w.views[call.replica], call.month).underWay--
	if counted {
		of(w.views[call.replica], w.today()).counted++
		of(w.months, w.today()).counted++
	}
}

// flush stores all that a replica has counted, and lets it read.
func (w *world) flush(i int) {
	something := w.replicas[i].recorder.Buffered() > 0
	err := w.replicas[i].flush()
	if !something {
		return
	}
	for date, truth := range w.months {
		truth.stored = w.store.triaged(date)
	}
	w.current[i], w.unsure[i] = false, err != nil
	if err != nil {
		return
	}
	for _, v := range w.views[i] {
		v.stored = v.counted
	}
	w.read(i)
}

// refresh lets a replica read what storage has, when that is sure.
func (w *world) refresh(i int) {
	w.replicas[i].Refresh(context.Background())
	if !w.unsure[i] {
		w.read(i)
	}
}

// read is what a reading lets a replica know.
func (w *world) read(i int) {
	w.current[i] = w.store.err == nil && w.store.unread == nil
	if w.current[i] {
		v := of(w.views[i], w.today())
		v.read, v.counted, v.stored = of(w.months, w.today()).stored, v.counted-v.stored, 0
	}
}

// Whatever the order of calls, failures, flushes and outages, in however many
// replicas, no call is refused that the limit allows, and none is admitted
// beyond it but for what flushes still hide.
func TestLimitsAreKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			clock:  &clock{time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)},
			store:  &memory{},
			limit:  rapid.IntRange(0, 8).Draw(t, "limit"),
			months: map[civil.Date]*month{},
		}
		for range rapid.IntRange(1, 3).Draw(t, "replicas") {
			w.replicas = append(w.replicas, newReplica(w.store, w.clock.now, trial(int64(w.limit))))
			w.views = append(w.views, map[civil.Date]*view{})
			w.current, w.unsure = append(w.current, false), append(w.unsure, false)
		}
		replica := rapid.IntRange(0, len(w.replicas)-1)
		for range 100 {
			switch step := rapid.IntRange(0, 29).Draw(t, "step"); {
			case step == 0:
				w.store.err, w.store.late = errDown, rapid.Bool().Draw(t, "late")
			case step == 1:
				w.store.unread = errDown
			case step <= 4:
				w.store.err, w.store.unread = nil, nil
			case step == 5:
				w.clock.time = w.clock.time.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "hours")) * time.Hour)
			case step == 6:
				w.refresh(replica.Draw(t, "replica"))
			case step <= 12:
				w.flush(replica.Draw(t, "replica"))
			case step <= 19:
				w.finish(rapid.IntRange(0, 4).Draw(t, "fails") > 0)
			default:
				w.begin(t, replica.Draw(t, "replica"))
			}
		}
	})
}
