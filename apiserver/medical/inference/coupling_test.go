// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// propagatedNetwork returns a network of single findings, each with a separate
// cluster, in which all messages have converged.
func propagatedNetwork(t *testing.T, w *referenceModel, a answers, random *rand.Rand) *network {
	t.Helper()
	w.release = w.build(t)
	p, err := NewPatient(w.release, model.Female, 400, w.evidence(a, random))
	if err != nil {
		t.Fatal(err)
	}
	s := New().getScratch(w.release, &p)
	s.setPriors()
	s.buildPlan()
	s.buildRows()
	s.applyNegatives()
	s.findContenders()
	n := &s.network
	n.families, n.claims, n.baseline = n.families[:0], n.claims[:0], n.baseline[:0]
	for i := range s.plan.nodes {
		s.buildFamilyClusters(i, i+1)
	}
	for range 20 {
		n.propagate()
	}
	return n
}

// evidenceByEnumeration computes exactly what network.logEvidence approximates. A
// condition that causes none of the findings is not a contender.
func (m *referenceModel) evidenceByEnumeration(a answers) float64 {
	likelihood := m.evidenceLikelihood(a)
	for c, prior := range m.priors {
		if slices.ContainsFunc(m.nodes, func(n referenceNode) bool { return n.activation[c] > 0 }) {
			likelihood /= 1 - prior
		}
	}
	return math.Log(likelihood)
}

// TestMessagesAreExactOnTree expects exact messages if no two conditions compete for
// two findings.
func TestMessagesAreExactOnTree(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(29, 29))
	w := &referenceModel{priors: []float64{0.01, 0.02, 0.03, 0.04}}
	a := answers{}
	for i := range 4 {
		probabilities := make([]float64, 5)
		probabilities[i], probabilities[4] = 0.7, 0.05
		if i > 0 {
			probabilities[i-1] = 0.3 // a chain
		}
		a[w.addNode(none, none, probabilities)] = Present
	}
	n := propagatedNetwork(t, w, a, random)
	for c, want := range w.posterior(a) {
		if got := n.odds[c] / (1 + n.odds[c]); math.Abs(got-want) > 1e-12 {
			t.Errorf("c_%d has %v, by enumeration %v", c+1, got, want)
		}
	}
	if got, want := n.logEvidence(n.families), w.evidenceByEnumeration(a); math.Abs(got-want) > 1e-12 {
		t.Errorf("the evidence is %v, by enumeration %v", got, want)
	}
	n.measureCoupling(n.families)
	if got := n.coupling.loopCorrection([]int32{0, 1, 2, 3}); math.Abs(got) > 1e-12 {
		t.Errorf("a tree has slack %v", got)
	}
}

// TestLoopCorrectionClosesMessageError expects the loop correction to bring the
// evidence much closer to the exact value for findings with many weak competing
// causes.
func TestLoopCorrectionClosesMessageError(t *testing.T) {
	t.Parallel()
	without, with := 0.0, 0.0
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 30))
		w := &referenceModel{}
		for range 10 {
			w.priors = append(w.priors, 0.01+0.02*random.Float64())
		}
		a := answers{}
		for len(a) < 3 {
			a[w.addNode(none, none, w.drawProbabilities(random, 0.02, 0.15, 0.05, 0.1))] = Present
		}
		n := propagatedNetwork(t, w, a, random)
		n.measureCoupling(n.families)
		evidence, want := n.logEvidence(n.families), w.evidenceByEnumeration(a)
		without += math.Abs(evidence - want)
		with += math.Abs(evidence + n.coupling.loopCorrection([]int32{0, 1, 2}) - want)
	}
	if with > without/5 {
		t.Errorf("off by %.4f without slack, %.4f with", without/20, with/20)
	}
}

// TestJoinedFamiliesAreExact joins the families of a patient into one, which leaves no
// messages.
func TestJoinedFamiliesAreExact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(31, 31))
	w := &referenceModel{priors: []float64{0.01, 0.02, 0.015}}
	a := answers{}
	for len(a) < 3 {
		a[w.addNode(none, none, []float64{0.8, 0.7, 0.9, 0.01})] = Present
	}
	n := propagatedNetwork(t, w, a, random)
	n.measureCoupling(n.families)
	n.joinFamilies()
	if len(n.joint.clusters) != 1 {
		t.Fatalf("%d clusters, want one", len(n.joint.clusters))
	}
	n.sweep(n.joint.clusters, maxSweeps)
	for c, want := range w.posterior(a) {
		if got := n.odds[c] / (1 + n.odds[c]); math.Abs(got-want) > 1e-12 {
			t.Errorf("c_%d has %v, by enumeration %v", c+1, got, want)
		}
	}
	if got, want := n.logEvidence(n.joint.clusters), w.evidenceByEnumeration(a); math.Abs(got-want) > 1e-12 {
		t.Errorf("the evidence is %v, by enumeration %v", got, want)
	}
}
