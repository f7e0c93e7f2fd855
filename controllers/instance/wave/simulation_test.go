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

// An outcome is the result of an Instance's move to the target.
type outcome int

const (
	succeeds outcome = iota
	// The target fails on the Instance, the Instance itself fails, or its move never ends.
	failsOnServer
	failsOnInstance
	hangs
	// The Instance becomes healthy on the target but fails or becomes unready during the
	// soak.
	failsDuringSoak
	becomesUnready
)

// A simulation simulates a rollout across Instances with given outcomes.
type simulation struct {
	*rapid.T
	wave     *Wave
	options  Options
	now      time.Time
	outcomes []outcome
	// instances holds the current states, and previous the states one step earlier.
	instances, previous []instanceState
	// proven reports whether any plan found the target proven, and failed whether the latest
	// plan found that it failed.
	proven, failed bool
}

// TestWaveInRandomOrders simulates complete rollouts: Instances become ready or fail in
// any order, the Wave observes them late, and the operator restarts at any time. It checks
// that no more Instances move than allowed, that only one moves until the target is
// proven, that no Instance moves after the target failed on another, and that an Instance
// that fails for reasons of its own does not stop the others.
func TestWaveInRandomOrders(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulation(t)
		for range 20 * len(s.instances) {
			s.now = s.now.Add(time.Duration(rapid.IntRange(0, 180).Draw(t, "seconds")) * time.Second)
			isNew := rapid.IntRange(0, 19).Draw(t, "restart") == 0
			if isNew {
				s.wave = New(nil, targetBuild, s.options)
			}
			s.plan(s.observedStates(isNew))
			s.previous = slices.Clone(s.instances)
			index := rapid.IntRange(0, len(s.instances)-1).Draw(t, "who")
			if rapid.IntRange(0, 9).Draw(t, "retry") == 0 {
				s.retry(index)
			}
			s.reconcile(index)
		}
		s.finish()
	})
}

func newSimulation(t *rapid.T) *simulation {
	s := &simulation{T: t, now: noon}
	s.options = Options{Limit: rapid.IntRange(1, 4).Draw(t, "limit"), Soak: rapid.SampledFrom([]time.Duration{0, soakDuration}).Draw(t, "soak")}
	kinds := rapid.SampledFrom([][]outcome{
		{succeeds}, {succeeds, failsOnInstance, hangs}, {failsOnInstance}, {hangs},
		{succeeds, failsOnServer}, {succeeds, failsDuringSoak, becomesUnready}, {succeeds, failsOnServer, failsOnInstance, hangs, failsDuringSoak, becomesUnready},
	}).Draw(t, "fates")
	s.outcomes = rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 10).Draw(t, "fate")
	for i := range s.outcomes {
		s.instances = append(s.instances, newHealthyState(fmt.Sprintf("tenant-%02d", i), currentBuild))
	}
	s.wave, s.previous = New(nil, targetBuild, s.options), slices.Clone(s.instances)
	return s
}

// observedStates returns the states that the Wave observes: each Instance in its current
// or previous state, in any order.
func (s *simulation) observedStates(isNew bool) []instanceState {
	observed := slices.Clone(s.instances)
	for i := range observed {
		if !isNew && rapid.IntRange(0, 3).Draw(s.T, "late") == 0 {
			observed[i] = s.previous[i]
		}
	}
	return rapid.Permutation(observed).Draw(s.T, "order")
}

// plan makes the Wave plan, and checks the plan.
func (s *simulation) plan(observed []instanceState) {
	s.wave.instances = observed
	s.wave.replan(s.Context(), s.now)
	s.failed = slices.ContainsFunc(observed, s.wasFailed) || isSuspect(observed)
	if s.failed != (s.wave.plan.state == Halted) || s.failed && len(s.wave.plan.moves) > 0 {
		s.Fatalf("failure observed: %v, rollout state %s with moves %v", s.failed, s.wave.plan.state, s.wave.plan.moves)
	}
	s.proven = s.proven || slices.ContainsFunc(observed, s.provesTarget)
	allowed := 1
	if s.proven {
		allowed = s.options.Limit
	}
	moving := 0
	for _, instance := range s.instances {
		isMoving := instance.build == targetBuild && !instance.wasHealthy() && !instance.stalled && !instance.hasServerReason(ReasonFailed) && s.now.Sub(instance.reconcilingSince) <= stuckDeadlines*instance.deadline+stuckMargin
		if isMoving || instance.build == currentBuild && s.wave.plan.moves[instance.uid] {
			moving++
		}
	}
	if moving > allowed {
		s.Fatalf("%d Instances are moving, want at most %d", moving, allowed)
	}
}

// wasFailed reports whether the target failed on an Instance.
func (s *simulation) wasFailed(instance instanceState) bool {
	becameUnready := instance.wasHealthy() && !instance.ready && !instance.stalled && s.now.Sub(instance.unreadySince) > unreadyGracePeriod
	isRetrying := !instance.wasHealthy() && !instance.stalled && instance.hasServerReason(ReasonFailed) && s.now.Sub(instance.reconcilingSince) <= stuckDeadlines*instance.deadline+stuckMargin
	return instance.build == targetBuild && (becameUnready || isRetrying || instance.failure.cause == v1alpha1.FailureReasonServer)
}

// isSuspect reports whether many Instances failed on the target for reasons of their own
// and none is healthy on it.
func isSuspect(observed []instanceState) bool {
	unhealthy := 0
	for _, instance := range observed {
		switch {
		case instance.build != targetBuild:
		case instance.wasHealthy():
			return false
		case instance.failure.cause == v1alpha1.FailureReasonInstance, instance.hasServerReason(ReasonFailed):
			unhealthy++
		}
	}
	return unhealthy >= suspectThreshold
}

func (s *simulation) provesTarget(instance instanceState) bool {
	return instance.build == targetBuild && instance.wasHealthy() && instance.ready && !s.now.Before(instance.lastHealthyAt.Add(s.options.Soak))
}

// reconcile reconciles one Instance and advances its pods.
func (s *simulation) reconcile(i int) {
	instance := &s.instances[i]
	decision := s.wave.plan.decide(instance, s.now)
	if decision.Server != instance.build {
		if s.failed {
			s.Fatalf("%s moves after the target failed", instance.key.Name)
		}
		movingFor(0)(instance)
		instance.build, instance.lastHealthy, instance.unreadySince, instance.reconcilingSince = decision.Server, currentBuild, s.now, s.now
	} else if instance.build == targetBuild {
		s.advance(instance, s.outcomes[i])
	}
	setServerCondition(instance, s.wave.plan.decide(instance, s.now))
}

// advance advances an Instance on the target toward its outcome.
func (s *simulation) advance(instance *instanceState, want outcome) {
	isSoaking := instance.wasHealthy() && instance.ready && s.now.Before(instance.lastHealthyAt.Add(s.options.Soak))
	switch {
	case instance.stalled, want == hangs:
	case want == failsOnServer && !instance.wasHealthy():
		s.fail(instance, v1alpha1.FailureReasonServer)
	case want == failsOnInstance && !instance.wasHealthy():
		s.fail(instance, v1alpha1.FailureReasonInstance)
	case !instance.wasHealthy():
		*instance = newHealthyState(instance.key.Name, targetBuild)
		instance.lastHealthyAt = s.now
	case want == failsDuringSoak && isSoaking:
		s.fail(instance, v1alpha1.FailureReasonServer)
	case want == becomesUnready && isSoaking:
		unreadyFor(0)(instance)
		instance.unreadySince, instance.reconcilingSince = s.now, s.now
	}
}

// retry retries an Instance on which the server failed, with or without success.
func (s *simulation) retry(i int) {
	instance := &s.instances[i]
	if instance.failure.cause != v1alpha1.FailureReasonServer || instance.wasHealthy() {
		return
	}
	movingFor(0)(instance)
	instance.lastHealthy, instance.stalled, instance.failure = currentBuild, false, failure{}
	instance.unreadySince, instance.reconcilingSince = s.now, s.now
	s.outcomes[i] = rapid.SampledFrom([]outcome{succeeds, failsOnServer, failsOnInstance, hangs}).Draw(s.T, "then")
}

func (s *simulation) fail(instance *instanceState, cause v1alpha1.FailureReason) {
	failedWith(cause, 0)(instance)
	instance.unreadySince, instance.failure.failedAt = s.now, s.now
}

// finish runs the simulation until nothing changes anymore, and checks the result:
// unless the server failed on an Instance, all Instances run it.
func (s *simulation) finish() {
	for range 30 * len(s.instances) {
		s.now = s.now.Add(time.Minute)
		s.plan(slices.Clone(s.instances))
		for i := range s.instances {
			s.reconcile(i)
		}
	}
	if slices.ContainsFunc(s.instances, s.wasFailed) || isSuspect(s.instances) {
		return
	}
	for i, instance := range s.instances {
		if instance.build != targetBuild || (s.outcomes[i] != failsOnInstance && s.outcomes[i] != hangs) != instance.wasHealthy() {
			s.Fatalf("%s with outcome %d did not reach the target: %+v", instance.key.Name, s.outcomes[i], instance)
		}
	}
	if s.wave.plan.state != Idle {
		s.Fatalf("final state is %s, want %s", s.wave.plan.state, Idle)
	}
}
