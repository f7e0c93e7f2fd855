// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
)

// TestApplySettles lets everything happen in any order: what is wanted changes,
// others write, a policy comes and goes, the cache is behind, the operator
// restarts. Whatever the order, a visit after which nothing happened is followed
// by no request; once the cache has caught up, one request at most follows, and
// then the object is as wanted or is told not to be. Without a policy, nothing
// is ever told to diverge.
func TestApplySettles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(draw *rapid.T) {
		s := &story{t: draw, scene: newScene(t, map[string]string{"a": "1", "b": "1"}), data: map[string]string{"a": "1", "b": "1"}}
		s.policies = rapid.Bool().Draw(draw, "policies")
		draw.Repeat(map[string]func(*rapid.T){
			"want":    s.want,
			"meddle":  s.meddleSomewhere,
			"policy":  s.changePolicy,
			"catchUp": s.catchUp,
			"restart": s.restartSometimes,
			"visit":   func(*rapid.T) { s.look() },
		})
		s.settle()
	})
}

// A story is what happens to a scene, by chance.
type story struct {
	*scene
	t        *rapid.T
	data     map[string]string
	policies bool
	// still says that nothing happened since the last visit.
	still bool
}

var (
	someKey   = rapid.SampledFrom([]string{"a", "b", "c"})
	someValue = rapid.SampledFrom([]string{"", "1", "2", "3"})
)

func (s *story) want(t *rapid.T) {
	key, value := someKey.Draw(t, "key"), someValue.Draw(t, "value")
	if s.data[key] = value; value == "" {
		delete(s.data, key)
	}
	s.wanted = encode(s.scene.t, s.data)
	s.still = false
}

func (s *story) meddleSomewhere(t *rapid.T) {
	if s.object == nil {
		return
	}
	s.meddle(someKey.Draw(t, "key"), someValue.Draw(t, "value"))
	s.fallBehind(t)
}

func (s *story) changePolicy(t *rapid.T) {
	if !s.policies {
		return
	}
	s.policy = nil
	if rapid.Bool().Draw(t, "on") {
		s.policy = rewrite(someKey.Draw(t, "key"), someValue.Draw(t, "value"))
	}
}

// fallBehind has the cache not show some of the newest versions; it never shows
// older ones than it did before.
func (s *story) fallBehind(t *rapid.T) {
	shown := len(s.history) - 1 - s.behind
	s.behind = rapid.IntRange(0, max(0, len(s.history)-1-max(shown, 0))).Draw(t, "behind")
	s.still = false
}

func (s *story) catchUp(t *rapid.T) {
	s.behind = rapid.IntRange(0, s.behind).Draw(t, "behind")
	s.still = false
}

func (s *story) restartSometimes(*rapid.T) {
	s.restart()
	s.still = false
}

// look visits and checks what must hold of each visit.
func (s *story) look() (Outcome, int) {
	versions, shown := len(s.history), len(s.history)-1-s.behind
	outcome, requests := s.visit()
	if s.still && requests > 0 {
		s.t.Fatalf("nothing happened, and it sent again because %s", outcome.Reason)
	}
	if !s.policies && outcome.Divergence != nil {
		s.t.Fatalf("there is no policy, and %s", outcome.Divergence)
	}
	// What was written just now is not in the cache yet.
	if versions > 0 {
		s.behind = len(s.history) - 1 - shown
	}
	s.still = true
	return outcome, requests
}

func (s *story) settle() {
	s.behind, s.still = 0, false
	if _, requests := s.look(); requests > 1 {
		s.t.Fatalf("sent %d times", requests)
	}
	s.behind, s.still = 0, true
	outcome, _ := s.look()
	asWanted := true
	for key, want := range s.data {
		got, _, _ := unstructured.NestedString(s.object.Object, "data", key)
		asWanted = asWanted && got == want
	}
	if asWanted != (outcome.Divergence == nil) {
		s.t.Fatalf("want %v, have %v, told %v", s.data, s.object.Object["data"], outcome.Divergence)
	}
}
