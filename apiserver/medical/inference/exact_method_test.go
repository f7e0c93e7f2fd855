// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// An exactMethod explains all tips of a patient in one lattice of any size. It is the
// reference for the engine's approximation for many findings. It shares with the
// engine the families and the effect of a single cause on a lattice, which are
// compared with enumeration.
type exactMethod struct {
	lattice     lattice
	size        int
	causes      []cause
	freeVectors [][]float64 // vectors to reuse
}

// A cause is a condition that may have caused some of the tips.
type cause struct {
	condition   int32
	steps       []step
	prior, odds float64
}

// exactPosterior returns the probability of each condition, and the probability that
// no condition that may have caused a positive finding is present.
func exactPosterior(r *model.Release, p Patient) (posterior []float64, noneProb float64) {
	s := New().getScratch(r, &p)
	s.setPriors()
	s.buildPlan()
	s.buildRows()
	s.applyNegatives()
	s.scaleByDurations()
	bits := make([]int8, s.plan.tips)
	for tip := range bits {
		bits[tip] = int8(tip)
	}
	program := s.plan.appendProgram(nil, none, 0, len(s.plan.nodes), bits)
	e := exactMethod{size: 1 << s.plan.tips}
	for row, c := range s.linkedConditions {
		if steps := instantiate(nil, program, s.row(int32(row))); len(steps) > 0 {
			e.causes = append(e.causes, cause{c, steps, s.odds[c] / (1 + s.odds[c]), s.odds[c]})
		}
	}
	leak := e.allocVector()
	clear(leak)
	leak[0] = 1
	e.lattice.apply(leak, instantiate(nil, program, s.leaks), activateForward)
	noneProb = leak[e.size-1] / e.applyCauses(leak, 0, len(e.causes))[e.size-1]
	for _, cause := range e.causes {
		noneProb *= 1 - cause.prior
	}
	e.explain(leak, 0, len(e.causes), s.odds)
	for _, odds := range s.odds {
		posterior = append(posterior, odds/(1+odds))
	}
	return posterior, noneProb
}

// explain multiplies the odds of the causes in a range by the likelihood ratio of the
// tips. others is the vector of all causes outside the range.
func (e *exactMethod) explain(others []float64, from, to int, odds []float64) {
	switch to - from {
	case 0:
		return
	case 1:
		without := others[e.size-1]
		e.lattice.apply(others, e.causes[from].steps, activateForward)
		odds[e.causes[from].condition] *= others[e.size-1] / without
		return
	}
	middle := (from + to) / 2
	for _, half := range [][4]int{{middle, to, from, middle}, {from, middle, middle, to}} {
		v := e.applyCauses(others, half[0], half[1])
		e.explain(v, half[2], half[3], odds)
		e.freeVectors = append(e.freeVectors, v)
	}
}

// applyCauses applies the causes in a range to a vector.
func (e *exactMethod) applyCauses(others []float64, from, to int) []float64 {
	v, before := e.allocVector(), e.allocVector()
	copy(v, others)
	for _, cause := range e.causes[from:to] {
		copy(before, v)
		e.lattice.apply(v, cause.steps, activateForward)
		mix(v, before, cause.prior)
	}
	e.freeVectors = append(e.freeVectors, before)
	return v
}

// allocVector returns a vector with arbitrary content.
func (e *exactMethod) allocVector() []float64 {
	if last := len(e.freeVectors) - 1; last >= 0 {
		v := e.freeVectors[last]
		e.freeVectors = e.freeVectors[:last]
		return v
	}
	return make([]float64, e.size)
}

// TestExactMethodMatchesEnumeration checks the reference implementation.
func TestExactMethodMatchesEnumeration(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 21))
		w := newReferenceModel(t, random)
		a := w.drawAnswers(random)
		p, err := NewPatient(w.release, model.Female, 400, w.evidence(a, random))
		if err != nil {
			t.Fatal(err)
		}
		want := w.posterior(a)
		got, _ := exactPosterior(w.release, p)
		if at, apart := maxDifference(got, want); apart > 1e-12 {
			t.Errorf("world %d: c_%d has %v, by enumeration %v", seed, at+1, got[at], want[at])
		}
	}
}

// maxDifference returns the position and size of the largest difference between two
// lists.
func maxDifference(a, b []float64) (at int, apart float64) {
	for i := range a {
		if d := max(a[i]-b[i], b[i]-a[i]); !(d <= apart) {
			at, apart = i, d
		}
	}
	return at, apart
}

// drawExplainedPatient draws a 40-year-old woman with the given number of tips, caused
// by some conditions and, if these cause too few, by the leak.
func drawExplainedPatient(t testing.TB, r *model.Release, conditions, tips int, random *rand.Rand) []ReportedEvidence {
	t.Helper()
	var chosen []model.ConditionIndex
	for len(chosen) < conditions {
		c := model.ConditionIndex(random.IntN(len(r.Conditions)))
		if condition := &r.Conditions[c]; condition.Sex.Includes(model.Female) && condition.AgeFrom <= 480 && condition.AgeTo >= 480 {
			chosen = append(chosen, c)
		}
	}
	patient := simulate(r, model.Female, 480, chosen, random)
	var list []model.ObservationIndex
	for o := range r.Observations {
		if r.Observations[o].Kind == model.Symptom && patient.holds[model.ObservationIndex(o)] {
			list = append(list, model.ObservationIndex(o))
		}
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return evidenceWithTips(t, r, append(list, commonRoots(r, random)...), tips)
}

// drawCommonPatient draws a 40-year-old woman with a random selection of the symptoms
// that most conditions cause.
func drawCommonPatient(t testing.TB, r *model.Release, tips int, random *rand.Rand) []ReportedEvidence {
	t.Helper()
	return evidenceWithTips(t, r, commonRoots(r, random), tips)
}

// commonRoots returns the symptoms without a parent that most conditions cause, in
// random order.
func commonRoots(r *model.Release, random *rand.Rand) []model.ObservationIndex {
	const common = 60
	var roots []model.ObservationIndex
	for i := range r.Observations {
		if o := &r.Observations[i]; o.Parent == model.None && o.Kind == model.Symptom {
			roots = append(roots, model.ObservationIndex(i))
		}
	}
	slices.SortStableFunc(roots, func(a, b model.ObservationIndex) int {
		return cmp.Compare(r.Observations[b].Links.Len(), r.Observations[a].Links.Len())
	})
	roots = roots[:min(common, len(roots))]
	random.Shuffle(len(roots), func(i, j int) { roots[i], roots[j] = roots[j], roots[i] })
	return roots
}

// evidenceWithTips reports symptoms in order until there are the given number of tips.
func evidenceWithTips(t testing.TB, r *model.Release, symptoms []model.ObservationIndex, tips int) (list []ReportedEvidence) {
	t.Helper()
	for _, o := range symptoms {
		if !slices.ContainsFunc(list, func(e ReportedEvidence) bool { return e.ID == r.ObservationID(o) }) {
			list = append(list, ReportedEvidence{ID: r.ObservationID(o), Choice: Present})
		}
		if countTips(t, r, list) == tips {
			return list
		}
	}
	t.Fatalf("%d symptoms are not enough for %d tips", len(symptoms), tips)
	return nil
}

// countTips returns the number of tips for the evidence of a 40-year-old woman.
func countTips(t testing.TB, r *model.Release, list []ReportedEvidence) int {
	t.Helper()
	p, err := NewPatient(r, model.Female, 480, list)
	if err != nil {
		t.Fatal(err)
	}
	s := New().getScratch(r, &p)
	s.setPriors()
	s.buildPlan()
	return s.plan.tips
}

// scratchFor returns the scratch memory after ranking a 40-year-old woman.
func scratchFor(t testing.TB, r *model.Release, list []ReportedEvidence) *scratch {
	t.Helper()
	p, err := NewPatient(r, model.Female, 480, list)
	if err != nil {
		t.Fatal(err)
	}
	s := New().getScratch(r, &p)
	s.infer()
	return s
}
