// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// An exactMethod explains all tips of a patient in one lattice, however large.
// It is the reference for what the engine does with many findings, and shares
// with it the families and how a single cause acts on a lattice, which are held
// against enumeration.
type exactMethod struct {
	lattice lattice
	size    int
	causes  []cause
	free    [][]float64 // vectors to use again
}

// A cause is a condition that may bring some of the tips.
type cause struct {
	condition   int32
	steps       []step
	prior, odds float64
}

// exactPosterior is how likely each condition is, and how likely it is that
// there is none which may have brought a positive finding.
func exactPosterior(r *model.Release, p Patient) (posterior []float64, nobody float64) {
	s := New().acquire(r, &p)
	s.setPriors()
	s.makePlan()
	s.gatherRows()
	s.weighRows()
	s.scaleByDurations()
	bits := make([]int8, s.plan.tips)
	for tip := range bits {
		bits[tip] = int8(tip)
	}
	program := s.plan.appendProgram(nil, none, 0, len(s.plan.nodes), bits)
	e := exactMethod{size: 1 << s.plan.tips}
	for row, c := range s.touched {
		if steps := instantiate(nil, program, s.row(int32(row))); len(steps) > 0 {
			e.causes = append(e.causes, cause{c, steps, s.odds[c] / (1 + s.odds[c]), s.odds[c]})
		}
	}
	leak := e.vector()
	clear(leak)
	leak[0] = 1
	e.lattice.apply(leak, instantiate(nil, program, s.leaks), bringForward)
	nobody = leak[e.size-1] / e.bring(leak, 0, len(e.causes))[e.size-1]
	for _, cause := range e.causes {
		nobody *= 1 - cause.prior
	}
	e.explain(leak, 0, len(e.causes), s.odds)
	for _, odds := range s.odds {
		posterior = append(posterior, odds/(1+odds))
	}
	return posterior, nobody
}

// explain multiplies the odds of the causes in a range by the likelihood ratio
// of the tips; others is what all causes out of the range bring.
func (e *exactMethod) explain(others []float64, from, to int, odds []float64) {
	switch to - from {
	case 0:
		return
	case 1:
		without := others[e.size-1]
		e.lattice.apply(others, e.causes[from].steps, bringForward)
		odds[e.causes[from].condition] *= others[e.size-1] / without
		return
	}
	middle := (from + to) / 2
	for _, half := range [][4]int{{middle, to, from, middle}, {from, middle, middle, to}} {
		v := e.bring(others, half[0], half[1])
		e.explain(v, half[2], half[3], odds)
		e.free = append(e.free, v)
	}
}

// bring is what a vector becomes when the causes in a range add theirs.
func (e *exactMethod) bring(others []float64, from, to int) []float64 {
	v, before := e.vector(), e.vector()
	copy(v, others)
	for _, cause := range e.causes[from:to] {
		copy(before, v)
		e.lattice.apply(v, cause.steps, bringForward)
		mix(v, before, cause.prior)
	}
	e.free = append(e.free, before)
	return v
}

// vector is one with any content.
func (e *exactMethod) vector() []float64 {
	if last := len(e.free) - 1; last >= 0 {
		v := e.free[last]
		e.free = e.free[:last]
		return v
	}
	return make([]float64, e.size)
}

// TestTheExactMethodIsThatOfEnumeration checks the reference itself.
func TestTheExactMethodIsThatOfEnumeration(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 21))
		w := newWorld(t, random)
		a := w.drawAnswers(random)
		p, err := NewPatient(w.release, model.Female, 400, w.evidence(a, random))
		if err != nil {
			t.Fatal(err)
		}
		want := w.posterior(a)
		got, _ := exactPosterior(w.release, p)
		if at, apart := furthest(got, want); apart > 1e-12 {
			t.Errorf("world %d: c_%d has %v, by enumeration %v", seed, at+1, got[at], want[at])
		}
	}
}

// furthest is where two lists are furthest apart, and by how much.
func furthest(a, b []float64) (at int, apart float64) {
	for i := range a {
		if d := max(a[i]-b[i], b[i]-a[i]); !(d <= apart) {
			at, apart = i, d
		}
	}
	return at, apart
}

// explainedPatient draws a woman of forty with so many tips that some
// conditions bring and, where these do not bring enough, what may trouble
// anybody.
func explainedPatient(t testing.TB, r *model.Release, conditions, tips int, random *rand.Rand) []ReportedEvidence {
	t.Helper()
	var chosen []model.ConditionIndex
	for len(chosen) < conditions {
		c := model.ConditionIndex(random.IntN(len(r.Conditions)))
		if condition := &r.Conditions[c]; condition.Sex.Admits(model.Female) && condition.AgeFrom <= 480 && condition.AgeTo >= 480 {
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
	return reportTips(t, r, append(list, commonRoots(r, random)...), tips)
}

// commonPatient draws a woman of forty with so many of the symptoms that most
// conditions bring, as if by chance.
func commonPatient(t testing.TB, r *model.Release, tips int, random *rand.Rand) []ReportedEvidence {
	t.Helper()
	return reportTips(t, r, commonRoots(r, random), tips)
}

// commonRoots are the symptoms without a parent that most conditions bring, in
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

// reportTips reports the first of some symptoms, until there are so many tips.
func reportTips(t testing.TB, r *model.Release, symptoms []model.ObservationIndex, tips int) (list []ReportedEvidence) {
	t.Helper()
	for _, o := range symptoms {
		if !slices.ContainsFunc(list, func(e ReportedEvidence) bool { return e.ID == r.ObservationID(o) }) {
			list = append(list, ReportedEvidence{ID: r.ObservationID(o), Choice: Present})
		}
		if tipsOf(t, r, list) == tips {
			return list
		}
	}
	t.Fatalf("%d symptoms are not enough for %d tips", len(symptoms), tips)
	return nil
}

// tipsOf is how many tips the evidence of a woman of forty has.
func tipsOf(t testing.TB, r *model.Release, list []ReportedEvidence) int {
	t.Helper()
	p, err := NewPatient(r, model.Female, 480, list)
	if err != nil {
		t.Fatal(err)
	}
	s := New().acquire(r, &p)
	s.setPriors()
	s.makePlan()
	return s.plan.tips
}

// scratchFor is working memory in which a woman of forty was ranked.
func scratchFor(t testing.TB, r *model.Release, list []ReportedEvidence) *scratch {
	t.Helper()
	p, err := NewPatient(r, model.Female, 480, list)
	if err != nil {
		t.Fatal(err)
	}
	s := New().acquire(r, &p)
	s.infer()
	return s
}
