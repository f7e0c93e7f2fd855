// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// settledNetwork is a network of single findings, each with a cluster of its own, in
// which all messages are settled.
func settledNetwork(t *testing.T, w *world, a answers, random *rand.Rand) *network {
	t.Helper()
	w.release = w.build(t)
	p, err := NewPatient(w.release, model.Female, 400, w.evidence(a, random))
	if err != nil {
		t.Fatal(err)
	}
	s := New().acquire(w.release, &p)
	s.setPriors()
	s.makePlan()
	s.gatherRows()
	s.weighRows()
	s.findContenders()
	n := &s.network
	n.families, n.claims, n.sure = n.families[:0], n.claims[:0], n.sure[:0]
	for i := range s.plan.nodes {
		s.formFamily(i, i+1)
	}
	for range 20 {
		n.settle()
	}
	return n
}

// evidenceByEnumeration is what network.evidence approximates. A condition that
// brings none of the findings is no contender.
func (w *world) evidenceByEnumeration(a answers) float64 {
	likelihood := w.evidenceLikelihood(a)
	for c, prior := range w.priors {
		if slices.ContainsFunc(w.nodes, func(n worldNode) bool { return n.brings[c] > 0 }) {
			likelihood /= 1 - prior
		}
	}
	return math.Log(likelihood)
}

// TestMessagesOnATreeAreExact: where no two conditions compete for two
// findings, there is nothing that messages do not carry.
func TestMessagesOnATreeAreExact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(29, 29))
	w := &world{priors: []float64{0.01, 0.02, 0.03, 0.04}}
	a := answers{}
	for i := range 4 {
		brings := make([]float64, 5)
		brings[i], brings[4] = 0.7, 0.05
		if i > 0 {
			brings[i-1] = 0.3 // a chain
		}
		a[w.addNode(none, none, brings)] = Present
	}
	n := settledNetwork(t, w, a, random)
	for c, want := range w.posterior(a) {
		if got := n.odds[c] / (1 + n.odds[c]); math.Abs(got-want) > 1e-12 {
			t.Errorf("c_%d has %v, by enumeration %v", c+1, got, want)
		}
	}
	if got, want := n.evidence(n.families), w.evidenceByEnumeration(a); math.Abs(got-want) > 1e-12 {
		t.Errorf("the evidence is %v, by enumeration %v", got, want)
	}
	n.measure(n.families)
	if got := n.strain.slack([]int32{0, 1, 2, 3}); math.Abs(got) > 1e-12 {
		t.Errorf("a tree has slack %v", got)
	}
}

// TestSlackIsWhatMessagesLack: on findings that many conditions compete for,
// each a little, the evidence is much nearer to the truth with the slack.
func TestSlackIsWhatMessagesLack(t *testing.T) {
	t.Parallel()
	without, with := 0.0, 0.0
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 30))
		w := &world{}
		for range 10 {
			w.priors = append(w.priors, 0.01+0.02*random.Float64())
		}
		a := answers{}
		for len(a) < 3 {
			a[w.addNode(none, none, w.drawChances(random, 0.02, 0.15, 0.05, 0.1))] = Present
		}
		n := settledNetwork(t, w, a, random)
		n.measure(n.families)
		evidence, want := n.evidence(n.families), w.evidenceByEnumeration(a)
		without += math.Abs(evidence - want)
		with += math.Abs(evidence + n.strain.slack([]int32{0, 1, 2}) - want)
	}
	if with > without/5 {
		t.Errorf("off by %.4f without slack, %.4f with", without/20, with/20)
	}
}

// TestJoinedFamiliesAreExact: joining the families of a patient into one leaves
// messages nothing to carry.
func TestJoinedFamiliesAreExact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(31, 31))
	w := &world{priors: []float64{0.01, 0.02, 0.015}}
	a := answers{}
	for len(a) < 3 {
		a[w.addNode(none, none, []float64{0.8, 0.7, 0.9, 0.01})] = Present
	}
	n := settledNetwork(t, w, a, random)
	n.measure(n.families)
	n.joinFamilies()
	if len(n.joint.clusters) != 1 {
		t.Fatalf("%d clusters, want one", len(n.joint.clusters))
	}
	n.sweep(n.joint.clusters, sweeps)
	for c, want := range w.posterior(a) {
		if got := n.odds[c] / (1 + n.odds[c]); math.Abs(got-want) > 1e-12 {
			t.Errorf("c_%d has %v, by enumeration %v", c+1, got, want)
		}
	}
	if got, want := n.evidence(n.joint.clusters), w.evidenceByEnumeration(a); math.Abs(got-want) > 1e-12 {
		t.Errorf("the evidence is %v, by enumeration %v", got, want)
	}
}
