// SPDX-License-Identifier: Apache-2.0

//go:build !race

package inference

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/google/go-cmp/cmp"
)

func TestRationaleExistsIffQuestionExists(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	random := rand.New(rand.NewPCG(51, 51))
	for range 1000 {
		list, sex, age := drawAnyEvidence(r, random), model.Sex(random.IntN(2)), random.IntN(1200)
		o := Options{DisableGroups: random.IntN(2) == 0, Mode: Mode(random.IntN(3)), SymptomDuration: random.IntN(2) == 0}
		p, err := NewPatient(r, sex, age, list)
		if err != nil {
			t.Fatal(err)
		}
		q := e.Assess(r, p, o).Question
		rationale, ok := e.Rationale(r, p, o)
		if ok != (q != nil) {
			t.Fatalf("rationale %v, question %+v, for %+v", ok, q, list)
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		shuffled, err := NewPatient(r, sex, age, list)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := e.Rationale(r, shuffled, o)
		if diff := cmp.Diff(rationale, again); diff != "" {
			t.Fatalf("in another order of the evidence: %s", diff)
		}
	}
}

// TestContentRationales plays interviews with patients of every condition of the
// content, gives the answer that each rationale is about, and checks its effect.
func TestContentRationales(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	count := map[RationaleType]int{}
	for c := range someConditions(r, 4) {
		random := rand.New(rand.NewPCG(uint64(c), 52))
		patient, complaint, ok := drawSimulatedPatient(r, c, random)
		if !ok {
			t.Fatalf("%s has no finding for which a patient would seek care", r.ConditionID(c))
		}
		o := Options{Mode: Mode(random.IntN(3))}
		v := patient.interviewAbout(t, e, complaint, o, false, random)
		for i := range v.questions {
			q, known := v.questions[i], v.known[i]
			rationale, ok := e.Rationale(r, patient.after(t, known), o)
			if !ok {
				t.Fatalf("no rationale for %+v", q)
			}
			count[rationale.Type]++
			checkRationale(t, e, patient, known, q, rationale)
		}
	}
	t.Logf("rationales by type: %v", count)
	for kind := ReducedByNo; kind <= MoreDetail; kind++ {
		if count[kind] == 0 && kind != ReducedByNone && kind != RecentInjury { // the content may have no such question
			t.Errorf("no question has the rationale %v", kind)
		}
	}
}

// checkRationale checks a rationale against the effect of the answers.
func checkRationale(t *testing.T, e *Engine, patient *simulatedPatient, known []ReportedEvidence, q *Question, rationale Rationale) {
	t.Helper()
	r := patient.r
	answered := func(choice Choice, items ...model.ObservationIndex) []float64 {
		list := slices.Clone(known)
		for _, item := range items {
			list = append(list, ReportedEvidence{ID: r.ObservationID(item), Choice: choice})
		}
		return infer(e, r, patient.after(t, list))
	}
	before := answered(Unknown)
	if len(rationale.Conditions) > maxRationaleConditions {
		t.Errorf("%s: %d conditions", q.Text, len(rationale.Conditions))
	}
	switch rationale.Type {
	case ReducedByNo, ReducedByNone:
		if len(rationale.Conditions) == 0 || (rationale.Type == ReducedByNo) != (q.Type == Single) {
			t.Errorf("%s: %v for a question of type %d about %v", q.Text, rationale.Type, q.Type, rationale.Conditions)
		}
		after := answered(Absent, q.Items...)
		for _, c := range rationale.Conditions {
			if after[c] >= before[c] {
				t.Errorf("%s: a no changes %s from %v to %v", q.Text, r.ConditionID(c), before[c], after[c])
			}
		}
	case RuledInOrOut:
		if len(rationale.Conditions) == 0 {
			t.Errorf("%s: no condition is ruled in or out", q.Text)
		}
		for _, c := range rationale.Conditions {
			if !slices.ContainsFunc(q.Items, func(item model.ObservationIndex) bool {
				return answered(Present, item)[c] > before[c] || slices.ContainsFunc(children(r, item), func(child model.ObservationIndex) bool {
					return answered(Present, child)[c] > before[c]
				})
			}) {
				t.Errorf("%s: no yes makes %s likelier", q.Text, r.ConditionID(c))
			}
		}
	case MayBeRelated:
		if !cmp.Equal(rationale.Observations, q.Items) || r.Observations[q.Items[0]].Parent != model.None {
			t.Errorf("%s: related to %v", q.Text, observationIDs(r, rationale.Observations))
		}
	case MayBeCause:
		if !cmp.Equal(rationale.Observations, q.Items) || r.Observations[q.Items[0]].Kind != model.RiskFactor {
			t.Errorf("%s: cause %v", q.Text, observationIDs(r, rationale.Observations))
		}
	case MoreDetail:
		if len(rationale.Observations) != 1 || r.Observations[q.Items[0]].Parent != rationale.Observations[0] || !isPresentIn(r, known, rationale.Observations[0]) {
			t.Errorf("%s: detail of %v", q.Text, observationIDs(r, rationale.Observations))
		}
	case RecentInjury:
		for _, item := range q.Items {
			if r.Observations[item].Topic != model.Injury {
				t.Errorf("%s: %s is no injury", q.Text, r.ObservationID(item))
			}
		}
	}
}
