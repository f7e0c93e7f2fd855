// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// TestProbabilitiesAreReliable draws patients from small worlds: of those to
// whom the engine gives a condition with a probability in some tenth, that
// share have it.
func TestProbabilitiesAreReliable(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(21, 21))
	e := New()
	var said, had, count [10]float64
	for range 400 {
		w := newWorld(t, random)
		for range 100 {
			conditions, patient := w.drawPatient(random)
			p, err := NewPatient(w.release, model.Female, 400, patient)
			if err != nil {
				t.Fatal(err)
			}
			for c, probability := range infer(e, w.release, p) {
				tenth := min(int(10*probability), 9)
				said[tenth] += probability
				count[tenth]++
				if conditions[c] {
					had[tenth]++
				}
			}
		}
	}
	for tenth, n := range count {
		if n < 300 {
			t.Fatalf("only %v cases in tenth %d", n, tenth)
		}
		if said, had := said[tenth]/n, had[tenth]/n; math.Abs(said-had) > 0.05 {
			t.Errorf("tenth %d: said %.3f, had %.3f of %v", tenth, said, had, n)
		}
	}
}

// drawPatient draws somebody with each condition as likely as its prior, and
// what they answer when they are asked about some families in full.
func (w *world) drawPatient(random *rand.Rand) (conditions []bool, evidence []ReportedEvidence) {
	brought := make([]int, len(w.nodes)) // by how many causes
	conditions = make([]bool, len(w.priors))
	for cause := range len(w.priors) + 1 {
		if cause < len(w.priors) {
			conditions[cause] = random.Float64() < w.priors[cause]
			if !conditions[cause] {
				continue
			}
		}
		w.drawOutcome(cause, brought, random)
	}
	for _, family := range w.families() {
		if random.IntN(3) > 0 {
			evidence = append(evidence, w.reveal(family, brought)...)
		}
	}
	return conditions, evidence
}

// drawOutcome adds what one cause brings.
func (w *world) drawOutcome(cause int, brought []int, random *rand.Rand) {
	here := make([]bool, len(w.nodes))
	left := make([]float64, len(w.groups)) // of the draw among exclusive items
	for g := range left {
		left[g] = random.Float64()
	}
	for i := range w.nodes {
		n := &w.nodes[i]
		if n.parent != none && !here[n.parent] {
			continue
		}
		if n.group != none && w.groups[n.group].single {
			chance := w.given(i, cause)
			here[i] = left[n.group] >= 0 && left[n.group] < chance
			left[n.group] -= chance
		} else {
			here[i] = random.Float64() < w.given(i, cause)
		}
		if here[i] {
			brought[i]++
		}
	}
}

// reveal is the answers about a family. Where causes brought different items
// of an exclusive group, the worst is told of an ordered one, and nothing of
// another.
func (w *world) reveal(family []int, brought []int) []ReportedEvidence {
	silent := map[int]bool{}
	for _, g := range w.groups {
		if !g.single {
			continue
		}
		chosen := none
		for _, item := range g.items {
			if brought[item] == 0 {
				continue
			}
			silent[item] = chosen != none && !g.ordered
			if chosen != none {
				silent[chosen] = true
			}
			chosen = item
		}
		if chosen == none {
			continue
		}
		for _, item := range g.items {
			if item != chosen {
				silent[item] = true
			} else if silent[item] {
				for _, all := range g.items {
					silent[all] = true
				}
			}
		}
	}
	var list []ReportedEvidence
	for _, node := range family {
		if w.silenced(node, silent) || brought[node] > 0 && !w.nodes[node].linked {
			continue
		}
		choice := Absent
		if brought[node] > 0 {
			choice = Present
		}
		list = append(list, ReportedEvidence{ID: w.nodes[node].id, Choice: choice})
	}
	return list
}

func (w *world) silenced(node int, silent map[int]bool) bool {
	for n := node; n != none; n = w.nodes[n].parent {
		if silent[n] {
			return true
		}
	}
	return false
}
