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
	// Idle means that no Instance is moving: either all have moved, or none may move now.
	Idle State = "idle"
	// Canary means that one Instance is trying the target.
	Canary State = "canary"
	// Soaking means that the canary is healthy on the target, and the other Instances wait
	// until it has soaked.
	Soaking State = "soaking"
	// Rolling means that the target is proven, and Instances are moving to it.
	Rolling State = "rolling"
	// Halted means that the target failed on an Instance, and no other Instance moves to it.
	Halted State = "halted"
)

// States lists all states, in the order in which a rollout passes through them.
var States = []State{Idle, Canary, Soaking, Rolling, Halted}

// A plan determines which Instances move to the target.
type plan struct {
	target   v1alpha1.ServerBuild
	options  Options
	messages messages
	state    State
	// tried reports whether an Instance is healthy on the target. proven reports whether an
	// Instance has been healthy on it for the soak time, or no Instance can try it. suspect
	// reports whether no Instance is healthy on the target and so many Instances failed on
	// it for reasons of their own that the target is blamed.
	tried, proven, suspect bool
	// start is the build on which new Instances start.
	start v1alpha1.ServerBuild
	// canary is the Instance that tries the target first, and failed the Instance on which
	// the target failed. Either may be nil.
	canary, failed *instanceState
	// moves holds the Instances that must still move, and arriving the Instances that are
	// moving.
	moves, arriving map[types.UID]bool
}

// newPlan creates a plan from the current state of all Instances. previous may be nil.
// Instances that it scheduled may have moved although the cache does not show it yet.
func newPlan(target v1alpha1.ServerBuild, options Options, instances []instanceState, previous *plan, now time.Time) *plan {
	p := &plan{target: target, options: options, moves: map[types.UID]bool{}, arriving: map[types.UID]bool{}}
	p.assessTarget(instances, now)
	result := p.summarize(instances, previous, now)
	if p.failed == nil {
		p.selectMoves(result)
	}
	p.state = p.currentState(result)
	if !p.proven || p.failed != nil {
		p.start = p.commonHealthyBuild(instances)
	} else {
		p.start = target
	}
	p.messages = p.newMessages()
	return p
}

// suspectThreshold is the number of Instances that must fail for reasons of their own
// before the target is blamed, provided that no Instance is healthy on it. From the
// outside, a server that breaks its database connections looks like an unavailable
// database.
const suspectThreshold = 3

// assessTarget determines whether the target is tried, proven or suspect.
func (p *plan) assessTarget(instances []instanceState, now time.Time) {
	canTry, unhealthy := false, 0
	for i := range instances {
		instance := &instances[i]
		if instance.deleted || p.desiredBuild(instance) != p.target {
			continue
		}
		canTry = canTry || instance.everServed && !instance.hibernated && !instance.suspended
		if instance.build == p.target {
			p.tried = p.tried || instance.wasHealthy() && !instance.hibernated
			p.proven = p.proven || instance.hasSoaked(now, p.options.Soak)
			if instance.failedToBecomeHealthy(now, p.options.Soak) {
				unhealthy++
			}
		}
	}
	p.proven = p.proven || !canTry
	p.suspect = !p.tried && unhealthy >= suspectThreshold
}

// A summary counts and groups the Instances for selecting the next moves.
type summary struct {
	// movingCount and behindCount are the numbers of Instances that are moving and that
	// still have to move. candidates may move but are not scheduled yet.
	movingCount, behindCount int
	candidates               []*instanceState
	// scheduled holds the Instances that the previous plan scheduled and that may still move.
	scheduled []*instanceState
	// firstMoving is the first Instance that is moving to the target, and firstSoaking the
	// Instance whose soak ends first. Either may be nil.
	firstMoving, firstSoaking *instanceState
}

func (p *plan) summarize(instances []instanceState, previous *plan, now time.Time) summary {
	var result summary
	for i := range instances {
		instance := &instances[i]
		switch {
		case instance.deleted, instance.isNew():
		case instance.build == p.desiredBuild(instance):
			p.addArrived(&result, instance, now)
			if previous.isScheduled(instance) && p.isMoving(instance, now) {
				p.arriving[instance.uid] = true
			}
		case p.mayMove(instance, now) && previous.isScheduled(instance):
			result.scheduled = append(result.scheduled, instance)
			result.behindCount++
		case p.mayMove(instance, now):
			result.candidates = append(result.candidates, instance)
			result.behindCount++
		default:
			result.behindCount++
		}
	}
	return result
}

// addArrived adds an Instance that runs its desired build to the summary.
func (p *plan) addArrived(result *summary, instance *instanceState, now time.Time) {
	if p.isMoving(instance, now) {
		result.movingCount++
	}
	switch {
	case instance.build != p.target:
	case p.hasFailed(instance, now):
		p.failed = firstByName(p.failed, instance)
	case p.isMoving(instance, now):
		result.firstMoving = firstByName(result.firstMoving, instance)
	case p.isSoaking(instance, now):
		if result.firstSoaking == nil || p.soakEndsBefore(instance, result.firstSoaking) {
			result.firstSoaking = instance
		}
	}
}

// soakEndsBefore reports whether a completes its soak before b. Ties are broken by name.
func (p *plan) soakEndsBefore(a, b *instanceState) bool {
	return cmp.Or(a.soakEnd(p.options.Soak).Compare(b.soakEnd(p.options.Soak)), compareNames(a, b)) < 0
}

// selectMoves selects the Instances that move next: a single Instance until the target is
// proven, and then as many as the limit allows.
func (p *plan) selectMoves(result summary) {
	for _, instance := range result.scheduled {
		p.moves[instance.uid] = true
	}
	moving := result.movingCount + len(result.scheduled)
	switch {
	case p.proven:
		slices.SortFunc(result.candidates, compareNames)
		for _, instance := range result.candidates[:min(len(result.candidates), max(p.options.Limit-moving, 0))] {
			p.moves[instance.uid] = true
		}
	case p.waitsForSoak(result):
		p.canary = result.firstSoaking
	case moving > 0:
		p.canary = result.firstMoving
		for _, instance := range result.scheduled {
			p.canary = firstByName(p.canary, instance)
		}
	case p.options.Limit > 0:
		if p.canary = p.selectCanary(result.candidates); p.canary != nil {
			p.moves[p.canary.uid] = true
		}
	}
}

// waitsForSoak reports whether the rollout waits until an Instance on the target has
// soaked, either because other Instances still have to move or because that Instance is
// the canary.
func (p *plan) waitsForSoak(result summary) bool {
	return result.firstSoaking != nil && (result.behindCount > 0 || result.firstSoaking.wasCanary())
}

// selectCanary selects the first ready Instance by name or, if none is ready, the first
// Instance that was ready before it moved to its current build.
func (p *plan) selectCanary(candidates []*instanceState) *instanceState {
	var ready, fallback *instanceState
	for _, instance := range candidates {
		switch {
		case p.desiredBuild(instance) != p.target || instance.hibernated || !instance.everServed:
		case instance.ready:
			ready = firstByName(ready, instance)
		case !instance.wasHealthy():
			fallback = firstByName(fallback, instance)
		}
	}
	if ready != nil {
		return ready
	}
	return fallback
}

func (p *plan) currentState(result summary) State {
	moving := result.movingCount + len(p.moves)
	switch {
	case p.failed != nil:
		return Halted
	case p.proven && moving > 0:
		return Rolling
	case p.proven:
		return Idle
	case p.canary != nil && p.canary == result.firstSoaking:
		return Soaking
	case moving > 0:
		return Canary
	}
	return Idle
}

// commonHealthyBuild returns the build, other than the target, on which most Instances
// were last healthy. Ties go to the newer revision, then to the later image name. If there
// is no such build, it returns the target.
func (p *plan) commonHealthyBuild(instances []instanceState) v1alpha1.ServerBuild {
	counts := map[v1alpha1.ServerBuild]int{}
	for i := range instances {
		if instance := &instances[i]; !instance.deleted && instance.lastHealthy != (v1alpha1.ServerBuild{}) && instance.lastHealthy != p.target {
			counts[instance.lastHealthy]++
		}
	}
	best := p.target
	for build, count := range counts {
		if best == p.target || cmp.Or(cmp.Compare(count, counts[best]), cmp.Compare(build.Revision, best.Revision), cmp.Compare(build.Image, best.Image)) > 0 {
			best = build
		}
	}
	return best
}

// desiredBuild returns the build that an Instance must eventually run: the target, or the
// image in its spec at the target's revision.
func (p *plan) desiredBuild(instance *instanceState) v1alpha1.ServerBuild {
	if instance.image == "" {
		return p.target
	}
	return v1alpha1.ServerBuild{Image: instance.image, Revision: p.target.Revision}
}

// mayMove reports whether an outdated Instance may move as soon as its turn comes.
func (p *plan) mayMove(instance *instanceState, now time.Time) bool {
	return !instance.requestsOtherImage() && p.blockingReason(instance, now) == ""
}

// requestsOtherImage reports whether the spec names an image that the Instance does not
// run yet. The Instance moves to that image immediately, because spec changes do not wait
// for other Instances.
func (s *instanceState) requestsOtherImage() bool { return s.image != "" && s.image != s.build.Image }

// isScheduled reports whether the plan moves an Instance whose move has not completed yet.
// A nil plan schedules no Instance.
func (p *plan) isScheduled(instance *instanceState) bool {
	return p != nil && (p.moves[instance.uid] || p.arriving[instance.uid])
}

// isMoving reports whether an Instance runs its desired build and has neither become
// healthy nor failed on it. An Instance whose pods were never ready does not count
// against the limit, because it serves no requests.
func (p *plan) isMoving(instance *instanceState, now time.Time) bool {
	return instance.build == p.desiredBuild(instance) && !instance.wasHealthy() && instance.everServed && !instance.suspended && !instance.paused &&
		instance.fault(now, p.options.Soak) == noFault && !p.hasFailed(instance, now)
}

// isSoaking reports whether an Instance is healthy on the target and has not completed
// its soak.
func (p *plan) isSoaking(instance *instanceState, now time.Time) bool {
	return instance.wasHealthy() && !instance.hibernated && !instance.suspended &&
		!instance.hasSoaked(now, p.options.Soak) && instance.fault(now, p.options.Soak) == noFault
}

// hasFailed reports whether the target failed on an Instance whose pods had been ready
// before. A retried Instance counts as failed until the result is known.
func (p *plan) hasFailed(instance *instanceState, now time.Time) bool {
	if instance.build != p.target || p.desiredBuild(instance) != p.target || !instance.everServed {
		return false
	}
	switch instance.fault(now, p.options.Soak) {
	case serverFault:
		return true
	case unknownFault:
		return !p.tried
	case instanceFault:
		return p.suspect && instance.failedToBecomeHealthy(now, p.options.Soak)
	case noFault:
		return !instance.wasHealthy() && instance.hasServerReason(ReasonFailed)
	}
	return false
}

// subject returns the name of the failed Instance or the canary, or an empty string.
func (p *plan) subject() string {
	switch {
	case p.failed != nil:
		return p.failed.key.String()
	case p.canary != nil:
		return p.canary.key.String()
	}
	return ""
}

// firstByName returns the Instance that sorts first by namespace and name. Either may be
// nil.
func firstByName(a, b *instanceState) *instanceState {
	if a == nil || b != nil && compareNames(b, a) < 0 {
		return b
	}
	return a
}

func compareNames(a, b *instanceState) int {
	return cmp.Or(cmp.Compare(a.key.Namespace, b.key.Namespace), cmp.Compare(a.key.Name, b.key.Name))
}
