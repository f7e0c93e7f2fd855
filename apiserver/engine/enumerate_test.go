// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"pgregory.net/rapid"
)

// posterior enumerates every set of conditions and everything that they and
// the leak may bring.
func (w *world) posterior(a answers) []float64 {
	with := make([]float64, len(w.priors))
	all := 0.0
	for set := range 1 << len(w.priors) {
		weight := 1.0
		for c := range w.priors {
			prior := w.odds(c, a) / (1 + w.odds(c, a))
			if set>>c&1 == 0 {
				prior = 1 - prior
			}
			weight *= prior
		}
		for _, family := range w.families() {
			weight *= w.likelihood(family, set, a)
		}
		all += weight
		for c := range with {
			if set>>c&1 == 1 {
				with[c] += weight
			}
		}
	}
	for c := range with {
		with[c] /= all
	}
	return with
}

func (w *world) odds(c int, a answers) float64 {
	odds := w.priors[c] / (1 - w.priors[c])
	for _, f := range w.factors {
		if f.condition != c {
			continue
		}
		switch a[len(w.nodes)+f.risk] {
		case Present:
			odds *= f.present
		case Absent:
			odds *= f.absent
		}
	}
	return odds
}

// families are the nodes that depend on each other, parents before children.
func (w *world) families() [][]int {
	family := make([]int, len(w.nodes))
	byFamily := make([][]int, len(w.nodes)+len(w.groups))
	for i, n := range w.nodes {
		switch {
		case n.parent != none:
			family[i] = family[n.parent]
		case n.group != none:
			family[i] = len(w.nodes) + n.group
		default:
			family[i] = i
		}
		byFamily[family[i]] = append(byFamily[family[i]], i)
	}
	var families [][]int
	for _, members := range byFamily {
		if len(members) > 0 {
			families = append(families, members)
		}
	}
	return families
}

// likelihood is how likely the conditions of a set, and the leak, bring what
// agrees with the answers about a family.
func (w *world) likelihood(family []int, set int, a answers) float64 {
	brought := make([]float64, 1<<len(family))
	brought[0] = 1
	for c := range len(w.priors) + 1 {
		if c < len(w.priors) && set>>c&1 == 0 {
			continue
		}
		next := make([]float64, len(brought))
		for outcome := range brought {
			chance := w.outcome(family, c, outcome)
			for before := range brought {
				next[before|outcome] += brought[before] * chance
			}
		}
		brought = next
	}
	sum := 0.0
	for outcome, chance := range brought {
		if w.agrees(family, outcome, a) {
			sum += chance
		}
	}
	return sum
}

// outcome is how likely a cause brings exactly this subset of a family.
func (w *world) outcome(family []int, cause, outcome int) float64 {
	chance := 1.0
	chosen := map[int]bool{}
	for i, node := range family {
		n := &w.nodes[node]
		brought := outcome>>i&1 == 1
		if !w.above(family, outcome, n) {
			if brought {
				return 0
			}
			continue
		}
		if n.group != none && w.groups[n.group].single {
			if brought && chosen[n.group] {
				return 0
			}
			if brought {
				chosen[n.group] = true
				chance *= w.given(node, cause)
			}
			if items := w.groups[n.group].items; node == items[len(items)-1] && !chosen[n.group] {
				rest := 1.0
				for _, item := range items {
					rest -= w.given(item, cause)
				}
				chance *= rest
			}
			continue
		}
		if brought {
			chance *= w.given(node, cause)
		} else {
			chance *= 1 - w.given(node, cause)
		}
	}
	return chance
}

// above reports whether the parent of a node is in an outcome, if it has one.
func (w *world) above(family []int, outcome int, n *worldNode) bool {
	for i, node := range family {
		if node == n.parent {
			return outcome>>i&1 == 1
		}
	}
	return true
}

// given is how likely a cause that brought the parent of a node brings it.
func (w *world) given(node, cause int) float64 {
	n := &w.nodes[node]
	switch {
	case n.brings[cause] == 0:
		return 0
	case n.parent == none:
		return n.brings[cause]
	default:
		return n.brings[cause] / w.nodes[n.parent].brings[cause]
	}
}

// agrees reports whether what was brought of a family is what was answered.
func (w *world) agrees(family []int, outcome int, a answers) bool {
	holds := map[int]bool{}
	for i, node := range family {
		holds[node] = outcome>>i&1 == 1
	}
	for _, node := range family {
		for _, required := range w.implied(node, a) {
			if !holds[required] {
				return false
			}
		}
		if a[node] == Absent && !w.believed(node, a) && !w.settled(node, a) && holds[node] {
			return false
		}
		if holds[node] && w.ruledOut(node, a) {
			return false
		}
	}
	return true
}

// implied are the nodes that hold because this one was said to: itself and all
// above, unless a later item of its group, or of a group above, was chosen. A
// node that no condition brings says no more than its parent.
func (w *world) implied(node int, a answers) []int {
	if a[node] != Present {
		return nil
	}
	var nodes []int
	for n := node; n != none; n = w.nodes[n].parent {
		if w.overruled(n, a) {
			nodes = nil
			continue
		}
		if w.nodes[n].linked {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// believed reports whether a node was said to be present, or one below it.
func (w *world) believed(node int, a answers) bool {
	for below, choice := range a {
		if choice != Present || below >= len(w.nodes) {
			continue
		}
		for n := below; n != none; n = w.nodes[n].parent {
			if n == node {
				return true
			}
		}
	}
	return false
}

// overruled reports whether a later item of the same exclusive group is there.
func (w *world) overruled(node int, a answers) bool {
	group := w.nodes[node].group
	if group == none || !w.groups[group].single {
		return false
	}
	for _, item := range w.groups[group].items {
		if item > node && w.believed(item, a) {
			return true
		}
	}
	return false
}

// settled reports whether another item of the same exclusive group is there,
// so that the group's choice says all about this one.
func (w *world) settled(node int, a answers) bool {
	for n := node; n != none; n = w.nodes[n].parent {
		group := w.nodes[n].group
		if group == none || !w.groups[group].single {
			continue
		}
		for _, item := range w.groups[group].items {
			if w.believed(item, a) && (item != n || w.overruled(n, a)) {
				return true
			}
		}
	}
	return false
}

// ruledOut reports whether the choice in an exclusive group says that no cause
// brought this item.
func (w *world) ruledOut(node int, a answers) bool {
	group := w.nodes[node].group
	if group == none || !w.groups[group].single {
		return false
	}
	chosen := none
	for _, item := range w.groups[group].items {
		if w.believed(item, a) {
			chosen = item
		}
	}
	return chosen != none && (node > chosen || node < chosen && !w.groups[group].ordered)
}

// infer is the posterior that the engine finds.
func infer(e *Engine, r *model.Release, p Patient) []float64 {
	s := e.acquire(r, &p)
	defer e.release(s)
	s.infer()
	return append([]float64(nil), s.posterior...)
}

func TestPosteriorIsThatOfEnumeration(t *testing.T) {
	e := New()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "world"), 1))
		w := newWorld(t, random)
		a := w.drawAnswers(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "answers"), 2)))
		p, err := NewPatient(w.release, model.Female, 400, w.evidence(a, random))
		if err != nil {
			t.Fatal(err)
		}
		want, got := w.posterior(a), infer(e, w.release, p)
		for c := range want {
			if math.Abs(got[c]-want[c]) > 1e-12 || math.Abs(got[c]-want[c]) > 1e-9*want[c] {
				t.Fatalf("c_%d: %.17g, by enumeration %.17g\nanswers %v\nworld %+v", c+1, got[c], want[c], a, w)
			}
		}
	})
}

// TestRareConditionsLoseNoDigits: priors of one in a million and ten findings
// that hardly occur by themselves, where an alternating sum has no digit left.
func TestRareConditionsLoseNoDigits(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 6))
		w := &world{}
		for range 5 {
			w.priors = append(w.priors, 1e-6*(0.5+random.Float64()))
		}
		a := answers{}
		for i := range 10 {
			w.addNode(none, none, w.drawChances(random, 0.1, 0.9, 1e-5, 1e-3))
			a[i] = Present
		}
		w.release = w.build(t)
		p, err := NewPatient(w.release, model.Female, 400, w.evidence(a, random))
		if err != nil {
			t.Fatal(err)
		}
		want, got := w.posterior(a), infer(New(), w.release, p)
		for c := range want {
			if math.Abs(got[c]-want[c]) > 1e-10*want[c] {
				t.Errorf("world %d: c_%d has %.17g, by enumeration %.17g", seed, c+1, got[c], want[c])
			}
		}
	}
}
