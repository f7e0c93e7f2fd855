// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
)

// TestApplyConverges generates events in any order: the desired state changes, other
// clients write, a policy is added or removed, the cache lags, the operator restarts.
// Without an event, a second reconcile must send no request. Once the cache has caught up,
// at most one more request follows, and then the object is in its desired state or drift is
// reported. Without a policy, drift is never reported.
func TestApplyConverges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(draw *rapid.T) {
		s := &applyStateMachine{t: draw, applyFixture: newApplyFixture(t, map[string]string{"a": "1", "b": "1"}), desiredData: map[string]string{"a": "1", "b": "1"}}
		s.policies = rapid.Bool().Draw(draw, "policies")
		draw.Repeat(map[string]func(*rapid.T){
			"want":    s.changeDesired,
			"meddle":  s.editLiveRandomly,
			"policy":  s.changePolicy,
			"catchUp": s.catchUpCache,
			"restart": s.restartOperator,
			"visit":   func(*rapid.T) { s.reconcileAndCheck() },
		})
		s.checkConverged()
	})
}

// An applyStateMachine applies random events to a fixture.
type applyStateMachine struct {
	*applyFixture
	t           *rapid.T
	desiredData map[string]string
	policies    bool
	// unchanged is set if nothing has happened since the last reconcile.
	unchanged bool
}

var (
	keyGenerator   = rapid.SampledFrom([]string{"a", "b", "c"})
	valueGenerator = rapid.SampledFrom([]string{"", "1", "2", "3"})
)

func (s *applyStateMachine) changeDesired(t *rapid.T) {
	key, value := keyGenerator.Draw(t, "key"), valueGenerator.Draw(t, "value")
	if s.desiredData[key] = value; value == "" {
		delete(s.desiredData, key)
	}
	s.desired = encodeConfigMap(s.applyFixture.t, s.desiredData)
	s.unchanged = false
}

func (s *applyStateMachine) editLiveRandomly(t *rapid.T) {
	if s.object == nil {
		return
	}
	s.editLive(keyGenerator.Draw(t, "key"), valueGenerator.Draw(t, "value"))
	s.delayCache(t)
}

func (s *applyStateMachine) changePolicy(t *rapid.T) {
	if !s.policies {
		return
	}
	s.policy = nil
	if rapid.Bool().Draw(t, "on") {
		s.policy = overridePolicy(keyGenerator.Draw(t, "key"), valueGenerator.Draw(t, "value"))
	}
}

// delayCache hides some of the newest versions from the cache. The cache never goes back
// in time.
func (s *applyStateMachine) delayCache(t *rapid.T) {
	shown := len(s.history) - 1 - s.cacheLag
	s.cacheLag = rapid.IntRange(0, max(0, len(s.history)-1-max(shown, 0))).Draw(t, "behind")
	s.unchanged = false
}

func (s *applyStateMachine) catchUpCache(t *rapid.T) {
	s.cacheLag = rapid.IntRange(0, s.cacheLag).Draw(t, "behind")
	s.unchanged = false
}

func (s *applyStateMachine) restartOperator(*rapid.T) {
	s.restart()
	s.unchanged = false
}

// reconcileAndCheck reconciles and checks the invariants of every reconcile.
func (s *applyStateMachine) reconcileAndCheck() (Outcome, int) {
	versions, shown := len(s.history), len(s.history)-1-s.cacheLag
	outcome, requests := s.reconcile()
	if s.unchanged && requests > 0 {
		s.t.Fatalf("object was sent again without a change: %s", outcome.Reason)
	}
	if !s.policies && outcome.Drift != nil {
		s.t.Fatalf("got drift without a policy: %s", outcome.Drift)
	}
	// The cache does not show the write yet.
	if versions > 0 {
		s.cacheLag = len(s.history) - 1 - shown
	}
	s.unchanged = true
	return outcome, requests
}

func (s *applyStateMachine) checkConverged() {
	s.cacheLag, s.unchanged = 0, false
	if _, requests := s.reconcileAndCheck(); requests > 1 {
		s.t.Fatalf("object was sent %d times", requests)
	}
	s.cacheLag, s.unchanged = 0, true
	outcome, _ := s.reconcileAndCheck()
	asWanted := true
	for key, want := range s.desiredData {
		got, _, _ := unstructured.NestedString(s.object.Object, "data", key)
		asWanted = asWanted && got == want
	}
	if asWanted != (outcome.Drift == nil) {
		s.t.Fatalf("desired %v, live %v, drift %v", s.desiredData, s.object.Object["data"], outcome.Drift)
	}
}
