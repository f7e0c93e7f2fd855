// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// TestProbabilitiesAreCalibrated draws patients from small models. Of the patients
// whose ranking contains a condition with a probability in a given tenth, that share
// must have the condition.
func TestProbabilitiesAreCalibrated(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(21, 21))
	e := New()
	var predicted, observed, count [10]float64
	for range 400 {
		w := newReferenceModel(t, random)
		for range 100 {
			conditions, patient := w.drawPatient(random)
			p, err := NewPatient(w.release, model.Female, 400, patient)
			if err != nil {
				t.Fatal(err)
			}
			for c, probability := range infer(e, w.release, p) {
				tenth := min(int(10*probability), 9)
				predicted[tenth] += probability
				count[tenth]++
				if conditions[c] {
					observed[tenth]++
				}
			}
		}
	}
	for tenth, n := range count {
		if n < 300 {
			t.Fatalf("only %v cases in tenth %d", n, tenth)
		}
		if predicted, observed := predicted[tenth]/n, observed[tenth]/n; math.Abs(predicted-observed) > 0.05 {
			t.Errorf("decile %d: predicted %.3f, observed %.3f of %v", tenth, predicted, observed, n)
		}
	}
}

// drawPatient draws a person who has each condition with its prior probability, and
// their answers when asked about some families in full.
func (m *referenceModel) drawPatient(random *rand.Rand) (conditions []bool, evidence []ReportedEvidence) {
	brought := make([]int, len(m.nodes)) // number of causes
	conditions = make([]bool, len(m.priors))
	for cause := range len(m.priors) + 1 {
		if cause < len(m.priors) {
			conditions[cause] = random.Float64() < m.priors[cause]
			if !conditions[cause] {
				continue
			}
		}
		m.drawOutcome(cause, brought, random)
	}
	for _, family := range m.families() {
		if random.IntN(3) > 0 {
			evidence = append(evidence, m.drawReport(family, brought)...)
		}
	}
	return conditions, evidence
}

// drawOutcome adds the observations that one cause produces.
func (m *referenceModel) drawOutcome(cause int, brought []int, random *rand.Rand) {
	here := make([]bool, len(m.nodes))
	left := make([]float64, len(m.groups)) // in the draw among exclusive items
	for g := range left {
		left[g] = random.Float64()
	}
	for i := range m.nodes {
		n := &m.nodes[i]
		if n.parent != none && !here[n.parent] {
			continue
		}
		if n.group != none && m.groups[n.group].single {
			chance := m.conditionalProbability(i, cause)
			here[i] = left[n.group] >= 0 && left[n.group] < chance
			left[n.group] -= chance
		} else {
			here[i] = random.Float64() < m.conditionalProbability(i, cause)
		}
		if here[i] {
			brought[i]++
		}
	}
}

// drawReport returns the answers about a family. If causes produced different items of
// an exclusive group, the worst is reported for an ordered group, and nothing for any
// other.
func (m *referenceModel) drawReport(family []int, brought []int) []ReportedEvidence {
	silent := map[int]bool{}
	for _, g := range m.groups {
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
		if m.isSilenced(node, silent) || brought[node] > 0 && !m.nodes[node].linked {
			continue
		}
		choice := Absent
		if brought[node] > 0 {
			choice = Present
		}
		list = append(list, ReportedEvidence{ID: m.nodes[node].id, Choice: choice})
	}
	return list
}

func (m *referenceModel) isSilenced(node int, silent map[int]bool) bool {
	for n := node; n != none; n = m.nodes[n].parent {
		if silent[n] {
			return true
		}
	}
	return false
}
