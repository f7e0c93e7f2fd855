// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A State is the phase of a rollout across all Instances.
type State string

const (
	// Idle means that no Instance is moving, because none has to or none may now.
	Idle State = "idle"
	// Canary means that one Instance is trying the target.
	Canary State = "canary"
	// Soaking means that the canary is healthy on the target, and the others wait until the
	// soak time is over.
	Soaking State = "soaking"
	// Rolling means that the target is proven, and Instances are moving to it.
	Rolling State = "rolling"
	// Halted means that the target failed on an Instance, and no other moves to it.
	Halted State = "halted"
)

// States lists all states, in the order in which a rollout passes through them.
var States = []State{Idle, Canary, Soaking, Rolling, Halted}

// A plan determines which Instances move to the target.
type plan struct {
	target  v1alpha1.ServerBuild
	options Options
	words   words
	state   State
	// tried is set if an Instance is healthy on the target. proven is set if one has been
	// healthy for the soak time, or if no Instance can try the target. doubted is set if
	// no Instance is healthy on the target and so many had problems of their own with it
	// that the target is blamed.
	tried, proven, doubted bool
	// start is the build on which new Instances start.
	start v1alpha1.ServerBuild
	// canary is the Instance that tries the target before the others. failed is the Instance
	// on which the target failed. Either may be nil.
	canary, failed *tenant
	// moves are the Instances that must move and have not done so yet. arriving are the
	// Instances that are moving.
	moves, arriving map[types.UID]bool
}

// newPlan creates a plan from the current state of all Instances. before is the previous
// plan, or nil: Instances that it told to move may have done so although the cache does
// not show it yet.
func newPlan(target v1alpha1.ServerBuild, options Options, tenants []tenant, before *plan, now time.Time) *plan {
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

// manyTroubles is how many Instances must have problems of their own with a target on
// which none is healthy before the target is blamed. A server that breaks its own
// database connection looks from outside like an unavailable database.
const manyTroubles = 3

// gatherProofs determines whether the target is tried, proven or doubted.
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

// A survey summarizes the Instances for the choice of the next ones to move.
type survey struct {
	// moving Instances are on their way, behind ones still have to move, and candidates may
	// move.
	moving, behind int
	candidates     []*tenant
	// kept Instances are moved by the previous plan and may still move.
	kept []*tenant
	// trying is the first Instance on its way to the target. soaking is the first one that
	// has reached it and not completed its soak.
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

// surveyArrived counts an Instance that runs its goal build.
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

// soaksBefore reports whether the soak of one Instance ends before the soak of the
// other. The name decides if both end at the same time.
func (p *plan) soaksBefore(one, other *tenant) bool {
	return cmp.Or(one.soakEnd(p.options.Soak).Compare(other.soakEnd(p.options.Soak)), compare(one, other)) < 0
}

// choose chooses the Instances that move next: a single one until the target is proven,
// then as many as the limit on moving Instances allows.
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

// needsSoak reports whether the rollout waits for the soak of an Instance that has
// reached the target: because other Instances depend on it, or because it started as the
// soak of a canary.
func (p *plan) needsSoak(found survey) bool {
	return found.soaking != nil && (found.behind > 0 || found.soaking.saysCanary())
}

// chooseCanary chooses the first ready Instance by name, or if none is ready, the first
// Instance that was ready before its current build.
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

// lastProven returns the build, other than the target, on which most Instances were last
// healthy. Ties are resolved by the newer revision, then by the later name. Without such
// a build, it returns the target.
func (p *plan) lastProven(tenants []tenant) v1alpha1.ServerBuild {
	counts := map[v1alpha1.ServerBuild]int{}
	for i := range tenants {
		if one := &tenants[i]; !one.deleted && one.proven != (v1alpha1.ServerBuild{}) && one.proven != p.target {
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

// goal returns the build that an Instance must eventually run: the target, or the image
// that its spec names with the target's revision.
func (p *plan) goal(one *tenant) v1alpha1.ServerBuild {
	if one.image == "" {
		return p.target
	}
	return v1alpha1.ServerBuild{Image: one.image, Revision: p.target.Revision}
}

// mayMove reports whether an Instance that is behind may move as soon as its turn comes.
func (p *plan) mayMove(one *tenant, now time.Time) bool {
	return !one.wantsAnotherImage() && p.hindrance(one, now) == ""
}

// wantsAnotherImage reports whether the spec names an image that the Instance does not
// run yet. It moves to that image immediately: changes of its own spec do not wait for
// other Instances.
func (t *tenant) wantsAnotherImage() bool { return t.image != "" && t.image != t.pin.Image }

// told reports whether the plan moves an Instance that is not known to have finished.
func (p *plan) told(one *tenant) bool {
	return p != nil && (p.moves[one.uid] || p.arriving[one.uid])
}

// isMoving reports whether an Instance is on its way to its goal: it runs the goal build
// and is neither healthy on it nor known to have failed. An Instance whose pods were
// never ready has nothing to lose and does not count against the limit.
func (p *plan) isMoving(one *tenant, now time.Time) bool {
	return one.pin == p.goal(one) && !one.isProven() && one.served && !one.suspended && !one.paused &&
		one.fault(now, p.options.Soak) == noFault && !p.hasFailed(one, now)
}

// isSoaking reports whether an Instance is healthy on the target and has not completed
// its soak.
func (p *plan) isSoaking(one *tenant, now time.Time) bool {
	return one.isProven() && !one.hibernated && !one.suspended &&
		!one.soaked(now, p.options.Soak) && one.fault(now, p.options.Soak) == noFault
}

// hasFailed reports whether the target failed on an Instance whose pods had been ready
// before. A retried Instance counts as failed until the result is known.
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

// concerns returns the name of the Instance that the state is about, or an empty string.
func (p *plan) concerns() string {
	switch {
	case p.failed != nil:
		return p.failed.key.String()
	case p.canary != nil:
		return p.canary.key.String()
	}
	return ""
}

// first returns the first of two tenants by namespace and name. Either may be nil.
func first(one, other *tenant) *tenant {
	if one == nil || other != nil && compare(other, one) < 0 {
		return other
	}
	return one
}

func compare(one, other *tenant) int {
	return cmp.Or(cmp.Compare(one.key.Namespace, other.key.Namespace), cmp.Compare(one.key.Name, other.key.Name))
}
