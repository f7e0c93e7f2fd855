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

// A fate is what becomes of an Instance with the new server.
type fate int

const (
	getsThere fate = iota
	// isFailed by the server, by something of its own, or waits for ever.
	isFailed
	failsItself
	waits
	// breaks and falls get there, and fail, or are down, before the soak is over.
	breaks
	falls
)

// A play is a wave in a world of Instances with fates.
type play struct {
	*rapid.T
	wave    *Wave
	options Options
	now     time.Time
	fates   []fate
	// tenants are as they are, and before as they were a step ago.
	tenants, before []tenant
	// proven says that a look saw the server proven, and failed that the last one
	// saw a failure of it.
	proven, failed bool
}

// TestWaveInRandomOrders plays waves to their end: Instances move when it is
// their turn, become ready or fail in any order, the wave sees them late, and the
// operator starts again at any point. Never are more on their way than allowed,
// and one until the server is proven; nobody moves after the server was seen to
// have failed one; and what fails for reasons of its own stops nobody.
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
			if rapid.IntRange(0, 9).Draw(t, "mend") == 0 {
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

// seen is what the wave sees: each Instance as it is or as it was, in any order.
func (p *play) seen(isNew bool) []tenant {
	seen := slices.Clone(p.tenants)
	for i := range seen {
		if !isNew && rapid.IntRange(0, 3).Draw(p.T, "late") == 0 {
			seen[i] = p.before[i]
		}
	}
	return rapid.Permutation(seen).Draw(p.T, "order")
}

// look has the wave look, and checks what it decided.
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

// wasFailed says whether the new server failed one.
func (p *play) wasFailed(one tenant) bool {
	fell := one.isProven() && !one.ready && !one.stalled && p.now.Sub(one.unreadySince) > grace
	triedAgain := !one.isProven() && !one.stalled && one.says(ReasonFailed) && p.now.Sub(one.workingSince) <= deadlines*one.deadline+margin
	return one.pin == newServer && (fell || triedAgain || one.failure.cause == v1alpha1.FailureCauseServer)
}

// isDoubted says whether many have trouble of their own with the new server, and
// nobody is well with it.
func isDoubted(seen []tenant) bool {
	troubles := 0
	for _, one := range seen {
		switch {
		case one.pin != newServer:
		case one.isProven():
			return false
		case one.failure.cause == v1alpha1.FailureCauseTenant, one.says(ReasonFailed):
			troubles++
		}
	}
	return troubles >= manyTroubles
}

func (p *play) isProof(one tenant) bool {
	return one.pin == newServer && one.isProven() && one.ready && !p.now.Before(one.provenAt.Add(p.options.Soak))
}

// act lets one Instance be visited, and its pods go on.
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

// goOn lets an Instance that has the new server come to its fate.
func (p *play) goOn(one *tenant, fate fate) {
	within := one.isProven() && one.ready && p.now.Before(one.provenAt.Add(p.options.Soak))
	switch {
	case one.stalled, fate == waits:
	case fate == isFailed && !one.isProven():
		p.fail(one, v1alpha1.FailureCauseServer)
	case fate == failsItself && !one.isProven():
		p.fail(one, v1alpha1.FailureCauseTenant)
	case !one.isProven():
		*one = settled(one.key.Name, newServer)
		one.provenAt = p.now
	case fate == breaks && within:
		p.fail(one, v1alpha1.FailureCauseServer)
	case fate == falls && within:
		downFor(0)(one)
		one.unreadySince, one.workingSince = p.now, p.now
	}
}

// mend has one that the server failed tried again, with or without success.
func (p *play) mend(i int) {
	one := &p.tenants[i]
	if one.failure.cause != v1alpha1.FailureCauseServer || one.isProven() {
		return
	}
	onItsWay(0)(one)
	one.proven, one.stalled, one.failure = oldServer, false, failure{}
	one.unreadySince, one.workingSince = p.now, p.now
	p.fates[i] = rapid.SampledFrom([]fate{getsThere, isFailed, failsItself, waits}).Draw(p.T, "then")
}

func (p *play) fail(one *tenant, cause v1alpha1.FailureCause) {
	failedWith(cause, 0)(one)
	one.unreadySince, one.failure.at = p.now, p.now
}

// finish plays on until nothing happens any more, and checks what became of all:
// unless the server failed one, everybody has it.
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
