// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// urgentRelease has observations of every seriousness, tuples, and conditions
// of every level whose probability a prior sets.
func urgentRelease(t testing.TB) *model.Release {
	ambulance := func(o *model.DraftObservation) { o.Seriousness = model.SeriousnessEmergencyAmbulance }
	return modeltest.New().
		Condition("c_1", 0.01).
		Symptom("s_1", 0.1).Symptom("s_2", 0.1).
		Symptom("s_3", 0.1, serious).Symptom("s_4", 0.1, redFlag).Symptom("s_5", 0.1, ambulance).
		Child("s_6", "s_4", model.Character, 0.05).
		Child("s_7", "s_2", model.Character, 0.05, redFlag).
		RiskFactor("p_1", 0.1).RiskFactor("p_2", 0.1, serious).
		LabResult("lt_1", 0.01, ambulance).
		Symptom("s_8", 0.1, ambulance, func(o *model.DraftObservation) { o.Sex = model.MaleOnly }).
		Tuple(model.Emergency, "s_1", "p_1").
		Tuple(model.Consultation24, "s_1", "s_2").
		Tuple(model.EmergencyAmbulance, "s_1", "s_2", "s_3").
		Link("c_1", "s_1", 0.5).Link("c_1", "s_2", 0.5).Link("c_1", "s_7", 0.1).
		Build(t)
}

func TestEvidenceDecidesTheLevel(t *testing.T) {
	t.Parallel()
	r := urgentRelease(t)
	for words, want := range map[string]struct {
		level     model.TriageLevel
		cause     RootCause
		emergency bool
	}{
		"":             {model.Consultation, DiagnosisUnknown, false},
		"-s_1":         {model.Consultation, DiagnosisUnknown, false},
		"s_3":          {model.Consultation24, SeriousEvidencePresent, false},
		"p_2":          {model.Consultation24, SeriousEvidencePresent, false},
		"s_4":          {model.Emergency, EmergencyEvidencePresent, true},
		"s_6":          {model.Emergency, EmergencyEvidencePresent, true}, // its parent is a red flag
		"s_6 -s_4":     {model.Emergency, EmergencyEvidencePresent, true},
		"s_2 s_7":      {model.Emergency, EmergencyEvidencePresent, true},
		"s_5":          {model.EmergencyAmbulance, EmergencyEvidencePresent, true},
		"lt_1":         {model.EmergencyAmbulance, EmergencyEvidencePresent, true},
		"s_3 s_4 s_5":  {model.EmergencyAmbulance, EmergencyEvidencePresent, true},
		"s_3 -s_4":     {model.Consultation24, SeriousEvidencePresent, false},
		"s_3 ?s_5":     {model.Consultation24, SeriousEvidencePresent, false},
		"s_8":          {model.Consultation, DiagnosisUnknown, false}, // of men
		"s_1 p_1":      {model.Emergency, EmergencyEvidencePresent, true},
		"s_1 -p_1":     {model.Consultation, DiagnosisUnknown, false},
		"s_1 s_2":      {model.Consultation24, SeriousEvidencePresent, false},
		"s_1 s_7":      {model.Emergency, EmergencyEvidencePresent, true},
		"s_1 s_2 s_3":  {model.EmergencyAmbulance, EmergencyEvidencePresent, true},
		"s_1 s_2 -s_3": {model.Consultation24, SeriousEvidencePresent, false},
	} {
		p := woman(t, r, words)
		got := New().Triage(r, p, Options{})
		if got.Level != want.level || got.RootCause != want.cause {
			t.Errorf("%q: %v, %v; want %v, %v", words, got.Level, got.RootCause, want.level, want.cause)
		}
		if emergency := New().Assess(r, p, Options{}).HasEmergencyEvidence; emergency != want.emergency {
			t.Errorf("%q: emergency evidence %v, want %v", words, emergency, want.emergency)
		}
	}
}

func TestSeriousObservationsAreListed(t *testing.T) {
	t.Parallel()
	r := urgentRelease(t)
	for words, want := range map[string][]string{
		"":             {},
		"s_1 s_2":      {},
		"-s_5 ?s_4":    {},
		"s_3 s_5 s_4":  {"s_5 emergency_ambulance", "s_4 emergency", "s_3 serious"},
		"p_2 s_3":      {"s_3 serious", "p_2 serious"},
		"s_6":          {"s_4 emergency"},
		"s_6 s_4":      {"s_4 emergency"},
		"s_8 s_3":      {"s_3 serious"},
		"lt_1 s_7 s_5": {"s_5 emergency_ambulance", "lt_1 emergency_ambulance", "s_7 emergency"},
	} {
		got := []string{}
		for _, o := range New().Triage(r, woman(t, r, words), Options{}).Serious {
			got = append(got, r.ObservationID(o.Observation)+" "+o.Seriousness.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", words, diff)
		}
	}
}

// TestConditionsDecideTheLevel sets the probability of one condition of each
// level, beside a harmless explanation of the complaint.
func TestConditionsDecideTheLevel(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		level model.TriageLevel
		odds  float64 // of the condition against the leak
		want  model.TriageLevel
		cause RootCause
	}{
		{model.EmergencyAmbulance, 9, model.EmergencyAmbulance, EmergencyConditionLikely},
		{model.EmergencyAmbulance, 0.15, model.Emergency, EmergencyConditionPossible},
		{model.EmergencyAmbulance, 0.05, model.Consultation24, EmergencyConditionPossible},
		{model.Emergency, 9, model.Emergency, EmergencyConditionLikely},
		{model.Emergency, 0.4, model.Emergency, EmergencyConditionLikely},
		{model.Emergency, 0.15, model.Emergency, EmergencyConditionPossible},
		{model.Emergency, 0.05, model.Consultation24, EmergencyConditionPossible},
		{model.Emergency, 0.005, model.Consultation, DiagnosisUnknown},
		{model.Consultation24, 9, model.Consultation24, ConsultationConditionLikely},
		{model.Consultation24, 0.01, model.Consultation, DiagnosisUnknown},
		{model.Consultation, 9, model.Consultation, ConsultationConditionLikely},
		{model.Consultation, 0.01, model.Consultation, DiagnosisUnknown},
		{model.SelfCare, 9, model.SelfCare, SelfCareSufficient},
		{model.SelfCare, 0.01, model.Consultation, DiagnosisUnknown},
	} {
		prior := test.odds / 4 / (1 + test.odds/4) // share 0.8, leak 0.2
		r := modeltest.New().
			Condition("c_1", prior, func(c *model.DraftCondition) { c.Triage = test.level }).
			Symptom("s_1", 0.2).Symptom("s_2", 0.001).Symptom("s_3", 0.001, redFlag).
			Link("c_1", "s_1", 0.8).Link("c_1", "s_3", 0.1).Build(t)
		got := New().Triage(r, woman(t, r, "s_1"), Options{})
		if got.Level != test.want || got.RootCause != test.cause {
			t.Errorf("%v with odds %v: %v, %v; want %v, %v", test.level, test.odds, got.Level, got.RootCause, test.want, test.cause)
		}
		if got := New().Triage(r, woman(t, r, "s_2"), Options{}); got.Level != model.Consultation || got.RootCause != DiagnosisUnknown {
			t.Errorf("%v with odds %v, which do not matter: %v, %v", test.level, test.odds, got.Level, got.RootCause)
		}
	}
}

func TestThreeLevels(t *testing.T) {
	t.Parallel()
	r := urgentRelease(t)
	for words, want := range map[string]model.TriageLevel{
		"s_3": model.Consultation,
		"s_4": model.Emergency,
		"s_5": model.Emergency,
		"":    model.Consultation,
	} {
		if got := New().Triage(r, woman(t, r, words), Options{ThreeLevels: true}).Level; got != want {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
	}
	if got := InThreeLevels(model.SelfCare); got != model.SelfCare {
		t.Errorf("self care becomes %v", got)
	}
}

func TestRootCausesHaveTheWordsOfTheSpecification(t *testing.T) {
	t.Parallel()
	var got []string
	for cause := DiagnosisUnknown; cause <= EmergencyEvidencePresent; cause++ {
		got = append(got, cause.String())
	}
	want := []string{
		"diagnosis_unknown", "self_care_sufficient", "consultation_condition_likely", "emergency_condition_possible",
		"emergency_condition_likely", "serious_evidence_present", "emergency_evidence_present",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLevelOfEvidenceNeverFalls adds present evidence to patients of the real
// content: the level that rests on it never falls, and the answer is never
// below it.
func TestLevelOfEvidenceNeverFalls(t *testing.T) {
	t.Parallel()
	r, e := real(t), New()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "patient"), 3))
		sex, age := model.Sex(random.IntN(2)), random.IntN(1200)
		var list []ReportedEvidence
		level := model.NoTriageLevel
		for _, o := range random.Perm(len(r.Observations))[:12] {
			list = append(list, ReportedEvidence{ID: r.ObservationID(model.ObservationIndex(o)), Choice: Choice(random.IntN(3))})
			if list[len(list)-1].Choice != Present {
				continue
			}
			p, err := NewPatient(r, sex, age, list)
			if err != nil {
				t.Fatal(err)
			}
			s := e.acquire(r, &p)
			next := s.evidenceLevel()
			e.release(s)
			if next < level {
				t.Fatalf("%v after %v with %v", next, level, list)
			}
			if answer := e.Triage(r, p, Options{}); answer.Level < next {
				t.Fatalf("level %v, below %v of the evidence, for %v", answer.Level, next, list)
			}
			level = next
		}
	})
}
