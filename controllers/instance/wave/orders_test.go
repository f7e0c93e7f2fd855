// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A fate is the result of an Instance's move to the new server.
type fate int

const (
	getsThere fate = iota
	// The server fails on the Instance, the Instance itself fails, or it waits forever.
	isFailed
	failsItself
	waits
	// breaks and falls reach the new server, and fail or become unready before the soak is
	// over.
	breaks
	falls
)

// A play simulates a rollout across Instances with given fates.
type play struct {
	*rapid.T
	wave    *Wave
	options Options
	now     time.Time
	fates   []fate
	// tenants are the current states, before are the states one step ago.
	tenants, before []tenant
	// proven is set once a look found the server proven, failed if the last look found a
	// failure of it.
	proven, failed bool
}

// TestWaveInRandomOrders simulates complete rollouts: Instances move in turn, become
// ready or fail in any order, the wave sees them late, and the operator restarts at any
// point. Never do more Instances move than allowed, and only one moves until the server
// is proven. No Instance moves after the server was seen to fail on one. Instances that
// fail for reasons of their own do not stop the others.
func TestWaveInRandomOrders(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := newPlay(t)
		for range 20 * len(p.tenants) {
			p.now = p.now.Add(time.Duration(rapid.IntRange(0, 180).Draw(t, "seconds")) * time.Second)
			isNew := rapid.IntRange(0, 19).Draw(t, "restart") == 0
			if isNew {
				p.wave = New(nil, newServer, p.options)
			}
			p.look(p.seen(isNew))
			p.before = slices.Clone(p.tenants)
			who := rapid.IntRange(0, len(p.tenants)-1).Draw(t, "who")
			if rapid.IntRange(0, 9).Draw(t, "retry") == 0 {
				p.mend(who)
			}
			p.act(who)
		}
		p.finish()
	})
}

func newPlay(t *rapid.T) *play {
	p := &play{T: t, now: noon}
	p.options = Options{Limit: rapid.IntRange(1, 4).Draw(t, "limit"), Soak: rapid.SampledFrom([]time.Duration{0, soak}).Draw(t, "soak")}
	kinds := rapid.SampledFrom([][]fate{
		{getsThere}, {getsThere, failsItself, waits}, {failsItself}, {waits},
		{getsThere, isFailed}, {getsThere, breaks, falls}, {getsThere, isFailed, failsItself, waits, breaks, falls},
	}).Draw(t, "fates")
	p.fates = rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 10).Draw(t, "fate")
	for i := range p.fates {
		p.tenants = append(p.tenants, settled(fmt.Sprintf("tenant-%02d", i), oldServer))
	}
	p.wave, p.before = New(nil, newServer, p.options), slices.Clone(p.tenants)
	return p
}

// seen returns what the wave sees: each Instance in its current or previous state, in
// any order.
func (p *play) seen(isNew bool) []tenant {
	seen := slices.Clone(p.tenants)
	for i := range seen {
		if !isNew && rapid.IntRange(0, 3).Draw(p.T, "late") == 0 {
			seen[i] = p.before[i]
		}
	}
	return rapid.Permutation(seen).Draw(p.T, "order")
}

// look makes the wave plan, and checks its decisions.
func (p *play) look(seen []tenant) {
	p.wave.tenants = seen
	p.wave.consider(p.Context(), p.now)
	p.failed = slices.ContainsFunc(seen, p.wasFailed) || isDoubted(seen)
	if p.failed != (p.wave.plan.state == Halted) || p.failed && len(p.wave.plan.moves) > 0 {
		p.Fatalf("a failure was seen: %v, and the wave is %s with moves %v", p.failed, p.wave.plan.state, p.wave.plan.moves)
	}
	p.proven = p.proven || slices.ContainsFunc(seen, p.isProof)
	allowed := 1
	if p.proven {
		allowed = p.options.Limit
	}
	onTheirWay := 0
	for _, one := range p.tenants {
		isMoving := one.pin == newServer && !one.isProven() && !one.stalled && !one.says(ReasonFailed) && p.now.Sub(one.workingSince) <= deadlines*one.deadline+margin
		if isMoving || one.pin == oldServer && p.wave.plan.moves[one.uid] {
			onTheirWay++
		}
	}
	if onTheirWay > allowed {
		p.Fatalf("%d are on their way, more than %d", onTheirWay, allowed)
	}
}

// wasFailed reports whether the new server failed on an Instance.
func (p *play) wasFailed(one tenant) bool {
	fell := one.isProven() && !one.ready && !one.stalled && p.now.Sub(one.unreadySince) > grace
	triedAgain := !one.isProven() && !one.stalled && one.says(ReasonFailed) && p.now.Sub(one.workingSince) <= deadlines*one.deadline+margin
	return one.pin == newServer && (fell || triedAgain || one.failure.cause == v1alpha1.FailureReasonServer)
}

// isDoubted reports whether many Instances have problems of their own with the new
// server and none is healthy on it.
func isDoubted(seen []tenant) bool {
	troubles := 0
	for _, one := range seen {
		switch {
		case one.pin != newServer:
		case one.isProven():
			return false
		case one.failure.cause == v1alpha1.FailureReasonInstance, one.says(ReasonFailed):
			troubles++
		}
	}
	return troubles >= manyTroubles
}

func (p *play) isProof(one tenant) bool {
	return one.pin == newServer && one.isProven() && one.ready && !p.now.Before(one.provenAt.Add(p.options.Soak))
}

// act reconciles one Instance and advances its pods.
func (p *play) act(i int) {
	one := &p.tenants[i]
	decision := p.wave.plan.decide(one, p.now)
	if decision.Server != one.pin {
		if p.failed {
			p.Fatalf("%s moves after one failed", one.key.Name)
		}
		onItsWay(0)(one)
		one.pin, one.proven, one.unreadySince, one.workingSince = decision.Server, oldServer, p.now, p.now
	} else if one.pin == newServer {
		p.goOn(one, p.fates[i])
	}
	tell(one, p.wave.plan.decide(one, p.now))
}

// goOn moves an Instance with the new server toward its fate.
func (p *play) goOn(one *tenant, fate fate) {
	within := one.isProven() && one.ready && p.now.Before(one.provenAt.Add(p.options.Soak))
	switch {
	case one.stalled, fate == waits:
	case fate == isFailed && !one.isProven():
		p.fail(one, v1alpha1.FailureReasonServer)
	case fate == failsItself && !one.isProven():
		p.fail(one, v1alpha1.FailureReasonInstance)
	case !one.isProven():
		*one = settled(one.key.Name, newServer)
		one.provenAt = p.now
	case fate == breaks && within:
		p.fail(one, v1alpha1.FailureReasonServer)
	case fate == falls && within:
		downFor(0)(one)
		one.unreadySince, one.workingSince = p.now, p.now
	}
}

// retry retries an Instance on which the server failed, with or without success.
func (p *play) mend(i int) {
	one := &p.tenants[i]
	if one.failure.cause != v1alpha1.FailureReasonServer || one.isProven() {
		return
	}
	onItsWay(0)(one)
	one.proven, one.stalled, one.failure = oldServer, false, failure{}
	one.unreadySince, one.workingSince = p.now, p.now
	p.fates[i] = rapid.SampledFrom([]fate{getsThere, isFailed, failsItself, waits}).Draw(p.T, "then")
}

func (p *play) fail(one *tenant, cause v1alpha1.FailureReason) {
	failedWith(cause, 0)(one)
	one.unreadySince, one.failure.at = p.now, p.now
}

// finish runs the simulation until nothing changes anymore, and checks the result:
// unless the server failed on an Instance, all Instances run it.
func (p *play) finish() {
	for range 30 * len(p.tenants) {
		p.now = p.now.Add(time.Minute)
		p.look(slices.Clone(p.tenants))
		for i := range p.tenants {
			p.act(i)
		}
	}
	if slices.ContainsFunc(p.tenants, p.wasFailed) || isDoubted(p.tenants) {
		return
	}
	for i, one := range p.tenants {
		if one.pin != newServer || (p.fates[i] != failsItself && p.fates[i] != waits) != one.isProven() {
			p.Fatalf("%s of fate %d never got there: %+v", one.key.Name, p.fates[i], one)
		}
	}
	if p.wave.plan.state != Idle {
		p.Fatalf("at last the wave is %s", p.wave.plan.state)
	}
}
