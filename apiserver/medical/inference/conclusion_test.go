// SPDX-License-Identifier: Apache-2.0

//go:build !race

package inference

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// separateCalls combines the results of the separate calls that Conclude replaces.
func separateCalls(e *Engine, r *model.Release, p Patient, o Options, explained func(int, model.ConditionIndex) bool) Conclusion {
	want := Conclusion{Conditions: e.Assess(r, p, o).Conditions, Triage: e.Triage(r, p, o)}
	if recommended, ok := e.Recommend(r, p, o, nil); ok {
		want.Recommendation = &recommended
	}
	for place, ranked := range want.Conditions {
		if !explained(place, ranked.Condition) {
			continue
		}
		if want.Explanations == nil {
			want.Explanations = map[model.ConditionIndex]Explanation{}
		}
		want.Explanations[ranked.Condition], _ = e.Explain(r, p, o, ranked.Condition)
	}
	return want
}

// TestConcludeMatchesSeparateCalls uses evidence of any kind, including enough of it
// to require clusters and scenarios.
func TestConcludeMatchesSeparateCalls(t *testing.T) {
	t.Parallel()
	r, e := syntheticRelease(t), New()
	random := rand.New(rand.NewPCG(51, 51))
	for i := range 24 {
		list := drawAnyEvidence(r, random)
		if i%8 == 0 {
			list = drawCommonPatient(t, r, 12+i/2, random)
		}
		p, err := NewPatient(r, model.Sex(random.IntN(2)), random.IntN(1200), list)
		if err != nil {
			t.Fatal(err)
		}
		o := Options{SymptomDuration: i%2 == 0, ThreeLevels: i%3 == 0}
		explained := func(place int, _ model.ConditionIndex) bool { return place%2 == 0 && place < 6 }
		if diff := cmp.Diff(separateCalls(e, r, p, o, explained), e.Conclude(r, p, o, explained)); diff != "" {
			t.Fatalf("%+v: %s", list, diff)
		}
	}
}

// TestEmergencyEvidenceSkipsRanking expects the result to agree with the triage.
func TestEmergencyEvidenceSkipsRanking(t *testing.T) {
	t.Parallel()
	r, e := syntheticRelease(t), New()
	random := rand.New(rand.NewPCG(52, 52))
	ambulances := 0
	for range 600 {
		p, err := NewPatient(r, model.Female, 480, drawAnyEvidence(r, random))
		if err != nil {
			t.Fatal(err)
		}
		if got := e.Triage(r, p, Options{}); got.Level == model.EmergencyAmbulance && got.RootCause == EmergencyEvidencePresent {
			ambulances++
		}
		none := func(int, model.ConditionIndex) bool { return false }
		if diff := cmp.Diff(e.Conclude(r, p, Options{}, none).Triage, e.Triage(r, p, Options{})); diff != "" {
			t.Error(diff)
		}
		if e.HasEmergencyEvidence(r, p) != e.Assess(r, p, Options{}).HasEmergencyEvidence {
			t.Error("evidence of an emergency is one with a ranking only")
		}
	}
	if ambulances == 0 {
		t.Error("no evidence requires an ambulance")
	}
}

// BenchmarkConclude explains the five most likely conditions, as surveys do when they
// end.
func BenchmarkConclude(b *testing.B) {
	r, e := syntheticRelease(b), New()
	for _, present := range []int{8, 16, 30, MaxExplainedEvidence} {
		b.Run(fmt.Sprintf("present=%d", present), func(b *testing.B) {
			patients := workload(b, r, 20, present)
			five := func(place int, _ model.ConditionIndex) bool { return place < 5 }
			for i := 0; b.Loop(); i++ {
				e.Conclude(r, patients[i%len(patients)], Options{}, five)
			}
		})
	}
}
