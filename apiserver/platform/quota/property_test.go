// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

// monthTruth is the true state of the calls in a month.
type monthTruth struct {
	counted int // completed calls that count
	stored  int // the part of them in storage
}

// replicaView is what a replica can know about a month.
type replicaView struct {
	read     int // total in storage at the replica's last read
	counted  int // calls counted here since, partly in storage
	stored   int // the part of them in storage
	inFlight int
}

// simulation runs replicas under test against the true state.
type simulation struct {
	clock              *fakeClock
	store              *fakeStore
	limit              int
	replicas           []*replica
	months             map[civil.Date]*monthTruth
	views              []map[civil.Date]*replicaView
	totalsFresh        []bool
	lastBatchUncertain []bool // whether storage may have the batch that the replica will send again
	pending            []pendingCall
}

// pendingCall is an admitted call that has not ended.
type pendingCall struct {
	replica int
	month   civil.Date
	end     func(bool)
}

func getOrCreate[V any](m map[civil.Date]*V, date civil.Date) *V {
	date.Day = 1
	if m[date] == nil {
		m[date] = new(V)
	}
	return m[date]
}

func (w *simulation) today() civil.Date { return civil.DateOf(w.clock.time) }

// begin checks that a call is rejected if and only if the usage known to the replica
// reaches the limit, and that the true usage then reaches it too.
func (w *simulation) begin(t *rapid.T, i int) {
	truth, known := getOrCreate(w.months, w.today()), getOrCreate(w.views[i], w.today())
	knows := known.read + known.counted + known.inFlight
	end, wait := w.replicas[i].Begin("trial", triageEndpoint, true)
	if refused := w.totalsFresh[i] && knows >= w.limit; refused != (end == nil) {
		t.Fatalf("replica %d knows of %d calls and refused is %v, the limit is %d", i, knows, end == nil, w.limit)
	}
	if end == nil {
		underWay := 0
		for _, call := range w.pending {
			if getOrCreate(w.months, call.month) == truth {
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
		if other := getOrCreate(views, w.today()); j != i {
			hidden += other.counted - other.stored + other.inFlight
		}
	}
	if w.totalsFresh[i] && truth.counted >= w.limit+hidden {
		t.Fatalf("admitted after %d calls of which only %d were hidden, the limit is %d", truth.counted, hidden, w.limit)
	}
	known.inFlight++
	w.pending = append(w.pending, pendingCall{i, w.today(), end})
}

// finish ends the oldest call.
func (w *simulation) finish(counted bool) {
	if len(w.pending) == 0 {
		return
	}
	call := w.pending[0]
	w.pending = w.pending[1:]
	call.end(counted)
	getOrCreate(w.views[call.replica], call.month).inFlight--
	if counted {
		getOrCreate(w.views[call.replica], w.today()).counted++
		getOrCreate(w.months, w.today()).counted++
	}
}

// flush stores everything that a replica has counted, and lets it read the totals.
func (w *simulation) flush(i int) {
	something := w.replicas[i].recorder.Buffered() > 0
	err := w.replicas[i].flush()
	if !something {
		return
	}
	for date, truth := range w.months {
		truth.stored = w.store.triageCalls(date)
	}
	w.totalsFresh[i], w.lastBatchUncertain[i] = false, err != nil
	if err != nil {
		return
	}
	for _, v := range w.views[i] {
		v.stored = v.counted
	}
	w.updateView(i)
}

// refresh lets a replica read the totals unless they are uncertain.
func (w *simulation) refresh(i int) {
	w.replicas[i].Refresh(context.Background())
	if !w.lastBatchUncertain[i] {
		w.updateView(i)
	}
}

// updateView applies a read to the replica's view.
func (w *simulation) updateView(i int) {
	w.totalsFresh[i] = w.store.err == nil && w.store.totalsErr == nil
	if w.totalsFresh[i] {
		v := getOrCreate(w.views[i], w.today())
		v.read, v.counted, v.stored = getOrCreate(w.months, w.today()).stored, v.counted-v.stored, 0
	}
}

// For any order of calls, failures, flushes and outages on any number of replicas, no
// call within the limit is rejected, and calls beyond it are admitted only while
// flushes hide others.
func TestLimitsHoldAcrossReplicas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &simulation{
			clock:  &fakeClock{time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)},
			store:  &fakeStore{},
			limit:  rapid.IntRange(0, 8).Draw(t, "limit"),
			months: map[civil.Date]*monthTruth{},
		}
		for range rapid.IntRange(1, 3).Draw(t, "replicas") {
			w.replicas = append(w.replicas, newReplica(w.store, w.clock.now, newTrialPlan(int64(w.limit))))
			w.views = append(w.views, map[civil.Date]*replicaView{})
			w.totalsFresh, w.lastBatchUncertain = append(w.totalsFresh, false), append(w.lastBatchUncertain, false)
		}
		replica := rapid.IntRange(0, len(w.replicas)-1)
		for range 100 {
			switch step := rapid.IntRange(0, 29).Draw(t, "step"); {
			case step == 0:
				w.store.err, w.store.failAfterWrite = errDown, rapid.Bool().Draw(t, "late")
			case step == 1:
				w.store.totalsErr = errDown
			case step <= 4:
				w.store.err, w.store.totalsErr = nil, nil
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
