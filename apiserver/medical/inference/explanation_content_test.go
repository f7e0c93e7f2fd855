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

// TestContentExplanations checks, for random evidence, the invariants of explanations.
func TestContentExplanations(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	random := rand.New(rand.NewPCG(41, 41))
	for range 200 {
		list, sex, age := drawAnyEvidence(r, random), model.Sex(random.IntN(2)), random.IntN(1200)
		p, err := NewPatient(r, sex, age, list)
		if err != nil {
			t.Fatal(err)
		}
		for _, ranked := range e.Assess(r, p, Options{}).Conditions {
			x, ok := e.Explain(r, p, Options{}, ranked.Condition)
			if !ok {
				t.Fatalf("%s is in the ranking, and not explained", r.ConditionID(ranked.Condition))
			}
			checkExplanation(t, r, list, ranked.Condition, x)
			random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			shuffled, err := NewPatient(r, sex, age, list)
			if err != nil {
				t.Fatal(err)
			}
			again, _ := e.Explain(r, shuffled, Options{}, ranked.Condition)
			if diff := cmp.Diff(x, again); diff != "" {
				t.Fatalf("in another order of the evidence: %s", diff)
			}
		}
	}
}

// TestRemovingSupportLowersTarget removes evidence as a client would, and ranks again.
func TestRemovingSupportLowersTarget(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	supports := 0
	for c := range someConditions(r, 2) {
		random := rand.New(rand.NewPCG(uint64(c), 42))
		patient, complaint, ok := drawSimulatedPatient(r, c, random)
		if !ok {
			t.Fatalf("%s has no finding for which a patient would seek care", r.ConditionID(c))
		}
		v := patient.interviewAbout(t, e, complaint, Options{}, false, random)
		if countPresentFindings(v.evidence) > maxNearlyExactFindings {
			continue
		}
		p := patient.after(t, v.evidence)
		before := infer(e, r, p)
		for _, ranked := range v.last.Conditions {
			x, _ := e.Explain(r, p, Options{}, ranked.Condition)
			for _, o := range x.Supporting {
				left := slices.DeleteFunc(slices.Clone(v.evidence), func(e ReportedEvidence) bool {
					reported, _ := r.ObservationByID(e.ID)
					return reported == o || isDescendant(r, o, reported) && !isImpliedByOthers(r, v.evidence, reported, o)
				})
				if after := infer(e, r, patient.after(t, left))[ranked.Condition]; after >= before[ranked.Condition] {
					t.Errorf("%s: %v, without %s %v", r.ConditionID(ranked.Condition), before[ranked.Condition], r.ObservationID(o), after)
				}
				supports++
			}
		}
	}
	if supports < 500 {
		t.Errorf("only %d supports", supports)
	}
}
