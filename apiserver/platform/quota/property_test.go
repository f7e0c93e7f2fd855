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
	lastBatchUncertain []bool // storage may have accepted the batch that the replica will resend
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

func (s *simulation) today() civil.Date { return civil.DateOf(s.clock.time) }

// begin checks that a call is rejected if and only if the usage known to the replica
// reaches the limit, and that the true usage then reaches it too.
func (s *simulation) begin(t *rapid.T, i int) {
	truth, known := getOrCreate(s.months, s.today()), getOrCreate(s.views[i], s.today())
	knownCalls := known.read + known.counted + known.inFlight
	end, wait := s.replicas[i].Begin("trial", triageEndpoint, true)
	if rejected := s.totalsFresh[i] && knownCalls >= s.limit; rejected != (end == nil) {
		t.Fatalf("replica %d with %d known calls and a limit of %d: call rejected: %v", i, knownCalls, s.limit, end == nil)
	}
	if end == nil {
		inFlight := 0
		for _, call := range s.pending {
			if getOrCreate(s.months, call.month) == truth {
				inFlight++
			}
		}
		if truth.counted+inFlight < s.limit {
			t.Fatalf("call rejected with %d calls counted and %d in flight, the limit is %d", truth.counted, inFlight, s.limit)
		}
		if next := s.clock.time.Add(wait); next.Day() != 1 || next.Truncate(24*time.Hour) != next {
			t.Fatalf("limit resets at %v, want the start of a month", next)
		}
		return
	}
	hidden := truth.stored - known.read - known.stored // flushed by others since the last reading
	for j, views := range s.views {
		if other := getOrCreate(views, s.today()); j != i {
			hidden += other.counted - other.stored + other.inFlight
		}
	}
	if s.totalsFresh[i] && truth.counted >= s.limit+hidden {
		t.Fatalf("call admitted after %d calls, %d of them unknown to the replica; the limit is %d", truth.counted, hidden, s.limit)
	}
	known.inFlight++
	s.pending = append(s.pending, pendingCall{i, s.today(), end})
}

// finish ends the oldest call.
func (s *simulation) finish(counted bool) {
	if len(s.pending) == 0 {
		return
	}
	call := s.pending[0]
	s.pending = s.pending[1:]
	call.end(counted)
	getOrCreate(s.views[call.replica], call.month).inFlight--
	if counted {
		getOrCreate(s.views[call.replica], s.today()).counted++
		getOrCreate(s.months, s.today()).counted++
	}
}

// flush stores everything that a replica has counted, and lets it read the totals.
func (s *simulation) flush(i int) {
	buffered := s.replicas[i].recorder.Buffered() > 0
	err := s.replicas[i].flush()
	if !buffered {
		return
	}
	for date, truth := range s.months {
		truth.stored = s.store.triageCalls(date)
	}
	s.totalsFresh[i], s.lastBatchUncertain[i] = false, err != nil
	if err != nil {
		return
	}
	for _, v := range s.views[i] {
		v.stored = v.counted
	}
	s.updateView(i)
}

// refresh lets a replica read the totals unless they are uncertain.
func (s *simulation) refresh(i int) {
	s.replicas[i].Refresh(context.Background())
	if !s.lastBatchUncertain[i] {
		s.updateView(i)
	}
}

// updateView applies a read to the replica's view.
func (s *simulation) updateView(i int) {
	s.totalsFresh[i] = s.store.err == nil && s.store.totalsErr == nil
	if s.totalsFresh[i] {
		v := getOrCreate(s.views[i], s.today())
		v.read, v.counted, v.stored = getOrCreate(s.months, s.today()).stored, v.counted-v.stored, 0
	}
}

// TestLimitsHoldAcrossReplicas checks that for any order of calls, failures, flushes and
// outages on any number of replicas, no call within the limit is rejected, and calls
// beyond it are admitted only while flushes hide others.
func TestLimitsHoldAcrossReplicas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &simulation{
			clock:  &fakeClock{time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)},
			store:  &fakeStore{},
			limit:  rapid.IntRange(0, 8).Draw(t, "limit"),
			months: map[civil.Date]*monthTruth{},
		}
		for range rapid.IntRange(1, 3).Draw(t, "replicas") {
			s.replicas = append(s.replicas, newReplica(s.store, s.clock.now, newTrialPlan(int64(s.limit))))
			s.views = append(s.views, map[civil.Date]*replicaView{})
			s.totalsFresh, s.lastBatchUncertain = append(s.totalsFresh, false), append(s.lastBatchUncertain, false)
		}
		replica := rapid.IntRange(0, len(s.replicas)-1)
		for range 100 {
			switch step := rapid.IntRange(0, 29).Draw(t, "step"); {
			case step == 0:
				s.store.err, s.store.failAfterWrite = errDown, rapid.Bool().Draw(t, "late")
			case step == 1:
				s.store.totalsErr = errDown
			case step <= 4:
				s.store.err, s.store.totalsErr = nil, nil
			case step == 5:
				s.clock.time = s.clock.time.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "hours")) * time.Hour)
			case step == 6:
				s.refresh(replica.Draw(t, "replica"))
			case step <= 12:
				s.flush(replica.Draw(t, "replica"))
			case step <= 19:
				s.finish(rapid.IntRange(0, 4).Draw(t, "fails") > 0)
			default:
				s.begin(t, replica.Draw(t, "replica"))
			}
		}
	})
}
