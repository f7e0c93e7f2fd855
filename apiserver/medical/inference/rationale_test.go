// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/google/go-cmp/cmp"
)

// newRationaleRelease has a question for every rationale type. The evidence determines
// which has the highest value. Condition c_9 is an emergency.
func newRationaleRelease(t testing.TB) *model.Release {
	injury := func(o *model.DraftObservation) { o.Topic = model.Injury }
	return modeltest.New().
		Condition("c_1", 0.03).Condition("c_2", 0.03).Condition("c_3", 0.03).Condition("c_9", 1e-7, emergency).
		Symptom("s_1", 0.02).Symptom("s_2", 0.02).Symptom("s_3", 0.0001).
		Child("s_4", "s_1", model.CharacterRelation, 0.01).
		Symptom("s_5", 0.02).Symptom("s_6", 0.02).Group(model.GroupMultiple, "s_5", "s_6").
		Symptom("s_7", 0.001, redFlag).
		Symptom("s_8", 0.02, injury).
		RiskFactor("p_1", 0.1).RiskFactor("p_2", 0.1, injury).
		Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Link("c_3", "s_1", 0.9).
		Link("c_1", "s_2", 0.8).
		Link("c_1", "s_3", 0.05).
		Link("c_1", "s_4", 0.3).
		Link("c_1", "s_5", 0.8).Link("c_2", "s_6", 0.8).
		Link("c_1", "s_8", 0.8).
		Link("c_9", "s_1", 0.9).Link("c_9", "s_7", 0.9).
		Factor("c_1", "p_1", 4, 0.5).Factor("c_1", "p_2", 4, 0.5).
		Build(t)
}

// formatRationale returns a rationale in short form: its code, then the listed IDs.
func formatRationale(r *model.Release, rationale Rationale) string {
	words := append([]string{rationale.Type.String()}, observationIDs(r, rationale.Observations)...)
	for _, c := range rationale.Conditions {
		words = append(words, r.ConditionID(c))
	}
	return strings.Join(words, " ")
}

func TestRationaleByQuestionType(t *testing.T) {
	t.Parallel()
	r := newRationaleRelease(t)
	const all = "s_1! ?s_2 ?s_3 ?s_4 ?s_5 ?s_6 ?s_7 ?s_8 ?p_1 ?p_2"
	only := func(ids ...string) string { // all other observations are unknown
		words := strings.Fields(all)
		return strings.Join(slices.DeleteFunc(words, func(word string) bool { return slices.Contains(ids, strings.TrimPrefix(word, "?")) }), " ")
	}
	for words, want := range map[string]string{
		only("s_2"):        "r0 c_1",
		only("s_5", "s_6"): "r2 c_1 c_2",
		only("s_3"):        "r1 s_3", // a no changes almost nothing
		only("s_4"):        "r6 s_1",
		only("p_1"):        "r4 p_1",
		only("p_2"):        "r5",
		only("s_8"):        "r5",
	} {
		p := newFemalePatient(t, r, words)
		question := New().Assess(r, p, Options{}).Question
		got, ok := New().Rationale(r, p, Options{})
		if question == nil || !ok {
			t.Fatalf("%q: question %+v, rationale %v", words, question, ok)
		}
		if got := formatRationale(r, got); got != want {
			t.Errorf("%q asks for %v: %q, want %q", words, observationIDs(r, question.Items), got, want)
		}
	}
}

// TestDangerRationale expects a possible emergency to be ruled in or out by its red
// flag, by a question that leads to one, and by a red flag below the complaint,
// whatever their type.
func TestDangerRationale(t *testing.T) {
	t.Parallel()
	build := func(add func(*modeltest.Builder)) *model.Release {
		b := modeltest.New().
			Condition("c_1", 0.05).Condition("c_2", 0.05).Condition("c_3", 0.005, emergency).Condition("c_4", 0.002, emergency).
			Symptom("s_1", 0.02).Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Link("c_3", "s_1", 0.9).Link("c_4", "s_1", 0.9)
		add(b)
		return b.Build(t)
	}
	for name, test := range map[string]struct {
		add  func(*modeltest.Builder)
		want string
	}{
		"a red flag": {func(b *modeltest.Builder) {
			b.Symptom("s_2", 0.001, redFlag).Link("c_3", "s_2", 0.6)
		}, "r3 c_3"},
		"one that a harmless condition brings too": {func(b *modeltest.Builder) {
			b.Symptom("s_2", 0.001, redFlag).Link("c_3", "s_2", 0.6).Link("c_2", "s_2", 0.3)
		}, "r3 c_3"},
		"one of two emergencies": {func(b *modeltest.Builder) {
			b.Symptom("s_2", 0.001, redFlag).Link("c_3", "s_2", 0.3).Link("c_4", "s_2", 0.3)
		}, "r3 c_3 c_4"},
		"the likelier one, if so": {func(b *modeltest.Builder) {
			b.Symptom("s_2", 0.001, redFlag).Link("c_3", "s_2", 0.3).Link("c_4", "s_2", 0.99)
		}, "r3 c_4 c_3"},
		"one that tells more than it threatens": {func(b *modeltest.Builder) {
			b.Symptom("s_2", 0.001, redFlag).Link("c_1", "s_2", 0.9).
				Condition("c_5", 0.003, emergency).Link("c_5", "s_1", 0.9).Link("c_5", "s_2", 0.99)
		}, "r3 c_5"},
		"below the complaint": {func(b *modeltest.Builder) {
			b.Child("s_2", "s_1", model.CharacterRelation, 0.001, redFlag).Link("c_3", "s_2", 0.6)
		}, "r3 c_3"},
		"one that a question leads to": {func(b *modeltest.Builder) {
			b.Symptom("s_2", 0.02).Child("s_3", "s_2", model.CharacterRelation, 0.001, redFlag).
				Link("c_3", "s_2", 0.7).Link("c_3", "s_3", 0.6).Link("c_4", "s_2", 0.7)
		}, "r3 c_3"},
		"in a group": {func(b *modeltest.Builder) {
			b.Symptom("s_2", 0.02).Symptom("s_3", 0.001, redFlag).Group(model.GroupMultiple, "s_2", "s_3").
				Link("c_1", "s_2", 0.5).Link("c_4", "s_2", 0.7).Link("c_3", "s_3", 0.6)
		}, "r3 c_3"},
		"the last of a tuple": {func(b *modeltest.Builder) {
			b.RiskFactor("p_1", 0.1).Factor("c_3", "p_1", 5, 0.5).Tuple(model.Emergency, "s_1", "p_1")
		}, "r3 c_3"},
	} {
		r := build(test.add)
		got, ok := New().Rationale(r, newFemalePatient(t, r, "s_1!"), Options{})
		if got := formatRationale(r, got); !ok || got != test.want {
			t.Errorf("%s: %v, %q, want %q", name, ok, got, test.want)
		}
	}
}

// TestInherentEmergencyRationale expects a question about an emergency in its own
// right to rule its causes in or out.
func TestInherentEmergencyRationale(t *testing.T) {
	t.Parallel()
	b := modeltest.New().Condition("c_1", 0.05).Condition("c_2", 0.05).Symptom("s_1", 0.02).
		Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.1)
	for i := 2; i <= 5; i++ {
		b.Symptom(fmt.Sprintf("s_%d", i), 0.02).Link("c_1", fmt.Sprintf("s_%d", i), 0.9)
	}
	r := b.Symptom("s_6", 0.001, redFlag).Link("c_1", "s_6", 0.25).Link("c_2", "s_6", 0.0011).Build(t)
	p := newFemalePatient(t, r, "s_1! s_2 s_3 s_4 -s_5")
	q := New().Assess(r, p, Options{}).Question
	if q == nil || r.ObservationID(q.Items[0]) != "s_6" {
		t.Fatalf("the question is %+v, want one for s_6", q)
	}
	got, ok := New().Rationale(r, p, Options{})
	if got := formatRationale(r, got); !ok || got != "r3 c_1" {
		t.Errorf("%v, %q, want r3 c_1", ok, got)
	}
}

// TestTriageRationale expects, in a triage interview, that a question that separates
// the levels rules conditions in or out, and that other questions do not.
func TestTriageRationale(t *testing.T) {
	t.Parallel()
	build := func(second model.TriageLevel) *model.Release {
		return modeltest.New().
			Condition("c_1", 0.05).Condition("c_2", 0.05, func(c *model.DraftCondition) { c.Triage = second }).
			Symptom("s_1", 0.02).Symptom("s_2", 0.02).
			Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Link("c_2", "s_2", 0.8).Build(t)
	}
	for _, test := range []struct {
		second model.TriageLevel
		mode   Mode
		want   string
	}{
		{model.SelfCare, DefaultMode, "r0 c_2"},
		{model.SelfCare, TriageMode, "r3 c_2"},
		{model.SelfCare, ShortTriageMode, "r3 c_2"},
		{model.Consultation, TriageMode, "r0 c_2"},
	} {
		r := build(test.second)
		got, ok := New().Rationale(r, newFemalePatient(t, r, "s_1!"), Options{Mode: test.mode})
		if got := formatRationale(r, got); !ok || got != test.want {
			t.Errorf("%v, mode %d: %v, %q, want %q", test.second, test.mode, ok, got, test.want)
		}
	}
}

func TestDurationRationale(t *testing.T) {
	t.Parallel()
	r := newRationaleRelease(t)
	p := newFemalePatient(t, r, "s_1! ?s_2")
	o := Options{SymptomDuration: true}
	if q := New().Assess(r, p, o).Question; q == nil || q.Type != Duration {
		t.Fatalf("the question is %+v, want one for a duration", q)
	}
	got, ok := New().Rationale(r, p, o)
	if got := formatRationale(r, got); !ok || got != "r6 s_1" {
		t.Errorf("%v, %q, want r6 with the symptom", ok, got)
	}
}

func TestRationaleTypeString(t *testing.T) {
	t.Parallel()
	var got []string
	for kind := ReducedByNo; kind <= MoreDetail; kind++ {
		got = append(got, kind.String())
	}
	if diff := cmp.Diff([]string{"r0", "r1", "r2", "r3", "r4", "r5", "r6"}, got); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkRationale uses the synthetic model of the size of a full catalog.
func BenchmarkRationale(b *testing.B) {
	r, e := syntheticRelease(b), New()
	patients := workload(b, r, 100, 4)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Rationale(r, patients[i%len(patients)], Options{})
	}
}
