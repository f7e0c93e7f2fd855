// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A State is how far a wave is.
type State string

const (
	// Idle says that nobody is on the way; nobody has to move, or none may now.
	Idle State = "idle"
	// Canary says that one Instance tries the target.
	Canary State = "canary"
	// Soaking says that the canary is well with the target, and the others wait
	// until it has been so for long enough.
	Soaking State = "soaking"
	// Rolling says that the target is proven, and Instances move to it.
	Rolling State = "rolling"
	// Halted says that the target failed an Instance, and nobody moves to it.
	Halted State = "halted"
)

// States are all states, in the order in which a wave passes them.
var States = []State{Idle, Canary, Soaking, Rolling, Halted}

// A plan says who moves to the target, and what concerns all.
type plan struct {
	target  v1alpha1.ServerPin
	options Options
	words   words
	state   State
	// tried says that an Instance is well with the target, and proven that one
	// has been so for the time of the soak, or that there is none to try it on.
	// doubted says that nobody is well with it, and so many had trouble of their own
	// with it that it is held for the target's.
	tried, proven, doubted bool
	// start is the build that a new Instance starts on.
	start v1alpha1.ServerPin
	// canary is the Instance that tries the target before the others, and failed
	// the one that it failed; nil for none.
	canary, failed *tenant
	// moves are those that are to move and have not yet done so, and arriving those
	// that were told to and are on their way since.
	moves, arriving map[types.UID]bool
}

// newPlan plans with what is known of all Instances now. before is the plan until
// now, nil for none: who was told to move may have done so although that is not
// known yet.
func newPlan(target v1alpha1.ServerPin, options Options, tenants []tenant, before *plan, now time.Time) *plan {
	p := &plan{target: target, options: options, moves: map[types.UID]bool{}, arriving: map[types.UID]bool{}}
	p.gatherProofs(tenants, now)
	found := p.survey(tenants, before, now)
	if p.failed == nil {
		p.choose(found)
	}
	p.state = p.stateOf(found)
	if !p.proven || p.failed != nil {
		p.start = p.lastProven(tenants)
	} else {
		p.start = target
	}
	p.words = p.newWords()
	return p
}

// manyTroubles is how many Instances may have trouble of their own with a target
// that nobody is well with. A server that spoils the way to its database looks from
// outside like a database that is away.
const manyTroubles = 3

// gatherProofs notes whether the target was tried, proven and doubted.
func (p *plan) gatherProofs(tenants []tenant, now time.Time) {
	there, troubles := false, 0
	for i := range tenants {
		one := &tenants[i]
		if one.deleted || p.goal(one) != p.target {
			continue
		}
		there = there || one.served && !one.hibernated && !one.suspended
		if one.pin == p.target {
			p.tried = p.tried || one.isProven() && !one.hibernated
			p.proven = p.proven || one.soaked(now, p.options.Soak)
			if one.gaveUp(now, p.options.Soak) {
				troubles++
			}
		}
	}
	p.proven = p.proven || !there
	p.doubted = !p.tried && troubles >= manyTroubles
}

// A survey is what the choice of who moves next depends on.
type survey struct {
	// moving are on their way, behind have still to move, and candidates may.
	moving, behind int
	candidates     []*tenant
	// kept were to move before and still may.
	kept []*tenant
	// trying is the first that is on its way to the target, soaking the first
	// that came there and has not been well with it for long enough.
	trying, soaking *tenant
}

func (p *plan) survey(tenants []tenant, before *plan, now time.Time) survey {
	var found survey
	for i := range tenants {
		one := &tenants[i]
		switch {
		case one.deleted, one.isNew():
		case one.pin == p.goal(one):
			p.surveyArrived(&found, one, now)
			if before.told(one) && p.isMoving(one, now) {
				p.arriving[one.uid] = true
			}
		case p.mayMove(one, now) && before.told(one):
			found.kept = append(found.kept, one)
			found.behind++
		case p.mayMove(one, now):
			found.candidates = append(found.candidates, one)
			found.behind++
		default:
			found.behind++
		}
	}
	return found
}

// surveyArrived counts one that has the build that it is to have.
func (p *plan) surveyArrived(found *survey, one *tenant, now time.Time) {
	if p.isMoving(one, now) {
		found.moving++
	}
	switch {
	case one.pin != p.target:
	case p.hasFailed(one, now):
		p.failed = first(p.failed, one)
	case p.isMoving(one, now):
		found.trying = first(found.trying, one)
	case p.isSoaking(one, now):
		if found.soaking == nil || p.soaksBefore(one, found.soaking) {
			found.soaking = one
		}
	}
}

// soaksBefore says whether the soak of one ends before that of another; of two
// that end together, that of the first by name.
func (p *plan) soaksBefore(one, other *tenant) bool {
	return cmp.Or(one.soakEnd(p.options.Soak).Compare(other.soakEnd(p.options.Soak)), compare(one, other)) < 0
}

// choose chooses who moves next. Until the target is proven that is one
// Instance, and after that so many that no more than the limit are on their way.
func (p *plan) choose(found survey) {
	for _, one := range found.kept {
		p.moves[one.uid] = true
	}
	onTheirWay := found.moving + len(found.kept)
	switch {
	case p.proven:
		slices.SortFunc(found.candidates, compare)
		for _, one := range found.candidates[:min(len(found.candidates), max(p.options.Limit-onTheirWay, 0))] {
			p.moves[one.uid] = true
		}
	case p.needsSoak(found):
		p.canary = found.soaking
	case onTheirWay > 0:
		p.canary = found.trying
		for _, one := range found.kept {
			p.canary = first(p.canary, one)
		}
	case p.options.Limit > 0:
		if p.canary = p.chooseCanary(found.candidates); p.canary != nil {
			p.moves[p.canary.uid] = true
		}
	}
}

// needsSoak says whether the soak of one that came to the target is waited for:
// by others, or because it was begun as that of a canary.
func (p *plan) needsSoak(found survey) bool {
	return found.soaking != nil && (found.behind > 0 || found.soaking.saysCanary())
}

// chooseCanary chooses the first by name of those that are ready; where there is
// none, of those that were ready before their present build.
func (p *plan) chooseCanary(candidates []*tenant) *tenant {
	var ready, other *tenant
	for _, one := range candidates {
		switch {
		case p.goal(one) != p.target || one.hibernated || !one.served:
		case one.ready:
			ready = first(ready, one)
		case !one.isProven():
			other = first(other, one)
		}
	}
	if ready != nil {
		return ready
	}
	return other
}

func (p *plan) stateOf(found survey) State {
	onTheirWay := found.moving + len(p.moves)
	switch {
	case p.failed != nil:
		return Halted
	case p.proven && onTheirWay > 0:
		return Rolling
	case p.proven:
		return Idle
	case p.canary != nil && p.canary == found.soaking:
		return Soaking
	case onTheirWay > 0:
		return Canary
	}
	return Idle
}

// lastProven is the build that most Instances were last well with and that is
// not the target; of two that as many have, the one of the newer revision, then
// the later by name. Where there is none, it is the target.
func (p *plan) lastProven(tenants []tenant) v1alpha1.ServerPin {
	counts := map[v1alpha1.ServerPin]int{}
	for i := range tenants {
		if one := &tenants[i]; !one.deleted && one.proven != (v1alpha1.ServerPin{}) && one.proven != p.target {
			counts[one.proven]++
		}
	}
	best := p.target
	for pin, count := range counts {
		if best == p.target || cmp.Or(cmp.Compare(count, counts[best]), cmp.Compare(pin.Revision, best.Revision), cmp.Compare(pin.Image, best.Image)) > 0 {
			best = pin
		}
	}
	return best
}

// goal is the build that an Instance is to have in the end: the target, or the
// image that its spec names with the target's revision.
func (p *plan) goal(one *tenant) v1alpha1.ServerPin {
	if one.image == "" {
		return p.target
	}
	return v1alpha1.ServerPin{Image: one.image, Revision: p.target.Revision}
}

// mayMove says whether nothing but its turn keeps one that is behind from moving.
func (p *plan) mayMove(one *tenant, now time.Time) bool {
	return !one.wantsAnotherImage() && p.hindrance(one, now) == ""
}

// wantsAnotherImage says whether its spec names an image that it has not got. It
// gets that at once: a change of its own spec waits for nobody.
func (t *tenant) wantsAnotherImage() bool { return t.image != "" && t.image != t.pin.Image }

// told says whether one was told to move, and is not known to have come to the end
// of that.
func (p *plan) told(one *tenant) bool {
	return p != nil && (p.moves[one.uid] || p.arriving[one.uid])
}

// isMoving says whether one is on its way to its goal: it has got it, and is
// neither well with it nor known to have failed. One whose pods were never ready
// has nothing to lose, and takes nobody's turn.
func (p *plan) isMoving(one *tenant, now time.Time) bool {
	return one.pin == p.goal(one) && !one.isProven() && one.served && !one.suspended && !one.paused &&
		one.fault(now, p.options.Soak) == noFault && !p.hasFailed(one, now)
}

// isSoaking says whether one is well with the target, and has not been for long
// enough.
func (p *plan) isSoaking(one *tenant, now time.Time) bool {
	return one.isProven() && !one.hibernated && !one.suspended &&
		!one.soaked(now, p.options.Soak) && one.fault(now, p.options.Soak) == noFault
}

// hasFailed says whether the target failed one whose pods were ready before. One
// that is tried again has failed until it is known how that ends.
func (p *plan) hasFailed(one *tenant, now time.Time) bool {
	if one.pin != p.target || p.goal(one) != p.target || !one.served {
		return false
	}
	switch one.fault(now, p.options.Soak) {
	case serverFault:
		return true
	case unclearFault:
		return !p.tried
	case tenantFault:
		return p.doubted && one.gaveUp(now, p.options.Soak)
	case noFault:
		return !one.isProven() && one.says(ReasonFailed)
	}
	return false
}

// concerns names the Instance that the state is about; empty for none.
func (p *plan) concerns() string {
	switch {
	case p.failed != nil:
		return p.failed.key.String()
	case p.canary != nil:
		return p.canary.key.String()
	}
	return ""
}

// first gives the first of two by namespace and name; either may be nil.
func first(one, other *tenant) *tenant {
	if one == nil || other != nil && compare(other, one) < 0 {
		return other
	}
	return one
}

func compare(one, other *tenant) int {
	return cmp.Or(cmp.Compare(one.key.Namespace, other.key.Namespace), cmp.Compare(one.key.Name, other.key.Name))
}
