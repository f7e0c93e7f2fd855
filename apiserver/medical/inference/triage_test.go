// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// newTriageRelease has observations of every seriousness, tuples, and conditions of
// every level with probabilities set by priors.
func newTriageRelease(t testing.TB) *model.Release {
	ambulance := func(o *model.DraftObservation) { o.Seriousness = model.SeriousnessEmergencyAmbulance }
	return modeltest.New().
		Condition("c_1", 0.01).
		Symptom("s_1", 0.1).Symptom("s_2", 0.1).
		Symptom("s_3", 0.1, serious).Symptom("s_4", 0.1, redFlag).Symptom("s_5", 0.1, ambulance).
		Child("s_6", "s_4", model.CharacterRelation, 0.05).
		Child("s_7", "s_2", model.CharacterRelation, 0.05, redFlag).
		RiskFactor("p_1", 0.1).RiskFactor("p_2", 0.1, serious).
		LabResult("lt_1", 0.01, ambulance).
		Symptom("s_8", 0.1, ambulance, func(o *model.DraftObservation) { o.Sex = model.MaleOnly }).
		Tuple(model.Emergency, "s_1", "p_1").
		Tuple(model.Consultation24, "s_1", "s_2").
		Tuple(model.EmergencyAmbulance, "s_1", "s_2", "s_3").
		Symptom("s_9", 0.1).Tuple(model.Consultation24, "s_3", "s_9").
		Link("c_1", "s_1", 0.5).Link("c_1", "s_2", 0.5).Link("c_1", "s_7", 0.1).
		Build(t)
}

func TestTriageLevelFromEvidence(t *testing.T) {
	t.Parallel()
	r := newTriageRelease(t)
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
		"s_8":          {model.Consultation, DiagnosisUnknown, false}, // applies to men only
		"s_1 p_1":      {model.Emergency, EmergencyEvidencePresent, true},
		"s_1 -p_1":     {model.Consultation, DiagnosisUnknown, false},
		"s_1 s_2":      {model.Consultation24, SeriousEvidencePresent, false},
		"s_1 s_7":      {model.Emergency, EmergencyEvidencePresent, true},
		"s_1 s_2 s_3":  {model.EmergencyAmbulance, EmergencyEvidencePresent, true},
		"s_1 s_2 -s_3": {model.Consultation24, SeriousEvidencePresent, false},
	} {
		p := newFemalePatient(t, r, words)
		got := New().Triage(r, p, Options{})
		if got.Level != want.level || got.RootCause != want.cause {
			t.Errorf("%q: %v, %v; want %v, %v", words, got.Level, got.RootCause, want.level, want.cause)
		}
		if emergency := New().Assess(r, p, Options{}).HasEmergencyEvidence; emergency != want.emergency {
			t.Errorf("%q: emergency evidence %v, want %v", words, emergency, want.emergency)
		}
	}
}

func TestTriageListsSeriousObservations(t *testing.T) {
	t.Parallel()
	r := newTriageRelease(t)
	for words, want := range map[string][]string{
		"":             {},
		"s_1":          {},
		"-s_5 ?s_4":    {},
		"s_3 s_5 s_4":  {"s_5 emergency_ambulance", "s_4 emergency", "s_3 serious"},
		"p_2 s_3":      {"s_3 serious", "p_2 serious"},
		"s_6":          {"s_4 emergency"},
		"s_6 s_4":      {"s_4 emergency"},
		"s_8 s_3":      {"s_3 serious"},
		"lt_1 s_7 s_5": {"s_5 emergency_ambulance", "lt_1 emergency_ambulance", "s_7 emergency"},
		// Together they have the level that neither has alone; of two tuples the higher level
		// counts.
		"s_1 s_2":          {"s_1 serious", "s_2 serious"},
		"s_1 p_1":          {"s_1 emergency", "p_1 emergency"},
		"s_1 p_1 s_3":      {"s_1 emergency", "p_1 emergency", "s_3 serious"},
		"s_1 s_2 s_3":      {"s_1 emergency_ambulance", "s_2 emergency_ambulance", "s_3 emergency_ambulance"},
		"s_1 s_2 p_1":      {"s_1 emergency", "p_1 emergency", "s_2 serious"},
		"s_1 s_7":          {"s_7 emergency", "s_1 serious", "s_2 serious"}, // with the parent of s_7
		"s_1 s_2 -s_3 p_2": {"s_1 serious", "s_2 serious", "p_2 serious"},
		"s_9 s_3":          {"s_3 serious"}, // a tuple with no higher level than s_3 alone
	} {
		got := []string{}
		for _, o := range New().Triage(r, newFemalePatient(t, r, words), Options{}).Serious {
			got = append(got, r.ObservationID(o.Observation)+" "+o.Seriousness.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", words, diff)
		}
	}
}

// TestTriageListsReasonsForEmergencyEvidence uses every tuple of the content, and
// expects that evidence that determines the level is listed with the seriousness of
// the level.
func TestTriageListsReasonsForEmergencyEvidence(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	for i := range r.Tuples {
		var list []ReportedEvidence
		age, sex := 0, model.Female
		for _, o := range model.Slice(r.TupleItems, r.Tuples[i].Observations) {
			list = append(list, ReportedEvidence{ID: r.ObservationID(o), Choice: Present, Source: SourceInitial})
			age = max(age, int(r.Observations[o].AgeFrom))
			if !r.Observations[o].Sex.Includes(sex) {
				sex = model.Male
			}
		}
		p, err := NewPatient(r, sex, age, list)
		if err != nil {
			t.Fatal(err)
		}
		triage := e.Triage(r, p, Options{})
		if triage.RootCause != EmergencyEvidencePresent && triage.RootCause != SeriousEvidencePresent {
			continue
		}
		if len(triage.Serious) == 0 || seriousnessLevel(triage.Serious[0].Seriousness) != triage.Level {
			t.Errorf("%v: the level %v rests on %v", list, triage.Level, triage.Serious)
		}
	}
}

// TestTriageLevelFromConditions varies the probability of one condition of each level,
// next to a harmless explanation of the complaint.
func TestTriageLevelFromConditions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		level model.TriageLevel
		odds  float64 // of the condition relative to the leak
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
		got := New().Triage(r, newFemalePatient(t, r, "s_1"), Options{})
		if got.Level != test.want || got.RootCause != test.cause {
			t.Errorf("%v with odds %v: %v, %v; want %v, %v", test.level, test.odds, got.Level, got.RootCause, test.want, test.cause)
		}
		if got := New().Triage(r, newFemalePatient(t, r, "s_2"), Options{}); got.Level != model.Consultation || got.RootCause != DiagnosisUnknown {
			t.Errorf("%v with irrelevant odds %v: %v, %v", test.level, test.odds, got.Level, got.RootCause)
		}
	}
}

func TestTeleconsultationApplicable(t *testing.T) {
	t.Parallel()
	r := newTriageRelease(t)
	for words, want := range map[string]bool{"": true, "s_1": true, "s_3": true, "s_4": false, "s_5": false} {
		for _, three := range []bool{false, true} {
			if got := New().Triage(r, newFemalePatient(t, r, words), Options{ThreeLevels: three}).TeleconsultationApplicable; got != want {
				t.Errorf("%q, three levels %v: %v, want %v", words, three, got, want)
			}
		}
	}
}

// TestTupleRequiresConsultationWithinDay expects this for tuples of any level, and for
// any observation that completes one.
func TestTupleRequiresConsultationWithinDay(t *testing.T) {
	t.Parallel()
	for given, want := range map[model.TriageLevel]model.TriageLevel{
		model.SelfCare: model.Consultation24, model.Consultation: model.Consultation24, model.Consultation24: model.Consultation24,
		model.Emergency: model.Emergency, model.EmergencyAmbulance: model.EmergencyAmbulance,
	} {
		r := modeltest.New().Condition("c_1", 0.3, func(c *model.DraftCondition) { c.Triage = model.SelfCare }).
			Symptom("s_1", 0.1).Symptom("s_2", 0.1).Symptom("s_3", 0.1).
			Link("c_1", "s_1", 0.9).Link("c_1", "s_2", 0.9).Link("c_1", "s_3", 0.9).
			Tuple(given, "s_1", "s_2").Build(t)
		if got := New().Triage(r, newFemalePatient(t, r, "s_1 s_3"), Options{}).Level; got != model.SelfCare {
			t.Errorf("tuple of level %v: half of it makes %v", given, got)
		}
		if got := New().Triage(r, newFemalePatient(t, r, "s_1 s_2"), Options{}).Level; got != want {
			t.Errorf("tuple of level %v: %v, want %v", given, got, want)
		}
		if got := formatSuggestions(t, r, "s_1", SuggestRedFlags, 9); got != "s_2" {
			t.Errorf("tuple of level %v: red flags %q, want s_2", given, got)
		}
	}
}

func TestFoldToThreeLevels(t *testing.T) {
	t.Parallel()
	r := newTriageRelease(t)
	for words, want := range map[string]RootCause{"s_3": SeriousEvidencePresent, "s_5": EmergencyEvidencePresent, "": DiagnosisUnknown} {
		if got := New().Triage(r, newFemalePatient(t, r, words), Options{ThreeLevels: true}).RootCause; got != want {
			t.Errorf("%q: %v, want %v as in five levels", words, got, want)
		}
	}
	for words, want := range map[string]model.TriageLevel{
		"s_3": model.Consultation,
		"s_4": model.Emergency,
		"s_5": model.Emergency,
		"":    model.Consultation,
	} {
		if got := New().Triage(r, newFemalePatient(t, r, words), Options{ThreeLevels: true}).Level; got != want {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
	}
	if got := FoldToThreeLevels(model.SelfCare); got != model.SelfCare {
		t.Errorf("self care becomes %v", got)
	}
}

func TestRootCauseString(t *testing.T) {
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

// TestEvidenceLevelIsMonotonic adds present evidence to patients of the content: the
// level of the evidence never falls, and the result is never below it.
func TestEvidenceLevelIsMonotonic(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "patient"), 3))
		sex, age, options := model.Sex(random.IntN(2)), random.IntN(1200), Options{SymptomDuration: random.IntN(2) == 0}
		var list []ReportedEvidence
		level := model.NoTriageLevel
		for _, o := range random.Perm(len(r.Observations))[:12] {
			if r.Observations[o].DurationTo > 0 {
				continue // it would override a duration, and thus remove evidence
			}
			list = append(list, ReportedEvidence{
				ID: r.ObservationID(model.ObservationIndex(o)), Choice: Choice(random.IntN(3)), Duration: time.Duration(random.IntN(3)) * 400 * time.Hour,
			})
			if list[len(list)-1].Choice != Present {
				continue
			}
			p, err := NewPatient(r, sex, age, list)
			if err != nil {
				t.Fatal(err)
			}
			next := evidenceLevel(e, r, *p.forOptions(options))
			if next < level {
				t.Fatalf("%v after %v with %v", next, level, list)
			}
			if answer := e.Triage(r, p, options); answer.Level < next {
				t.Fatalf("level %v, below %v of the evidence, for %v", answer.Level, next, list)
			}
			level = next
		}
	})
}

// TestEvidenceLevelMatchesDefinition compares the level of the evidence, and the level
// with an additional observation, with the highest level of any present observation or
// tuple.
func TestEvidenceLevelMatchesDefinition(t *testing.T) {
	t.Parallel()
	e, fixed := New(), newTriageRelease(t)
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "patient"), 5))
		r := fixed
		if random.IntN(2) == 0 {
			r = drawUrgentRelease(t, random)
		}
		var list []ReportedEvidence
		for o := range r.Observations {
			list = append(list, ReportedEvidence{ID: r.ObservationID(model.ObservationIndex(o)), Choice: Choice(random.IntN(3))})
		}
		p, err := NewPatient(r, model.Male, 480, list)
		if err != nil {
			t.Fatal(err)
		}
		s := e.getScratch(r, &p)
		defer e.putScratch(s)
		if want := levelByDefinition(r, p.present); s.evidenceLevel != want {
			t.Fatalf("level %v, by definition %v, of %v", s.evidenceLevel, want, p.present)
		}
		for o := range r.Observations {
			more := model.ObservationIndex(o)
			want := levelByDefinition(r, append(slices.Clone(p.present), more))
			if got := s.levelIfPresent(more); got != want {
				t.Fatalf("level %v, by definition %v, of %v and %v", got, want, p.present, more)
			}
		}
	})
}

// levelByDefinition returns the level that present observations require alone.
func levelByDefinition(r *model.Release, present []model.ObservationIndex) model.TriageLevel {
	level := model.NoTriageLevel
	for _, o := range present {
		level = max(level, seriousnessLevel(r.Observations[o].Seriousness))
	}
	for i := range r.Tuples {
		lacks := func(o model.ObservationIndex) bool { return !slices.Contains(present, o) }
		if t := &r.Tuples[i]; !slices.ContainsFunc(model.Slice(r.TupleItems, t.Observations), lacks) {
			level = max(level, tupleLevel(t))
		}
	}
	return level
}

// drawUrgentRelease draws a small model in which conditions, observations and tuples
// of every level occur.
func drawUrgentRelease(t modeltest.TB, random *rand.Rand) *model.Release {
	b := modeltest.New()
	const conditions, symptoms = 5, 8
	for c := 1; c <= conditions; c++ {
		level := model.SelfCare + model.TriageLevel(random.IntN(2)*random.IntN(5)) // one in two is harmless
		b.Condition(fmt.Sprintf("c_%d", c), 0.002+0.2*random.Float64()*random.Float64(), func(c *model.DraftCondition) { c.Triage = level })
	}
	var ids []string
	for s := 1; s <= symptoms; s++ {
		seriousness, id := model.Seriousness(random.IntN(4)*random.IntN(2)), fmt.Sprintf("s_%d", s)
		if s == 1 {
			seriousness = model.NotSerious // the complaint
		}
		edit := func(o *model.DraftObservation) { o.Seriousness = seriousness }
		leak := 0.01 + 0.1*random.Float64()
		if s > 6 {
			b.Child(id, "s_1", model.CharacterRelation, 0.009, edit)
		} else {
			b.Symptom(id, leak, edit)
		}
		ids = append(ids, id)
	}
	for c := 1; c <= conditions; c++ {
		b.Link(fmt.Sprintf("c_%d", c), "s_1", 0.95)
		for _, id := range ids[1:] {
			if random.IntN(3) == 0 {
				b.Link(fmt.Sprintf("c_%d", c), id, 0.15+0.75*random.Float64())
			}
		}
	}
	for range 4 {
		b.Tuple(model.SelfCare+model.TriageLevel(random.IntN(5)), "s_1", ids[1+random.IntN(symptoms-1)])
	}
	return b.Build(t)
}

// TestRedFlagRequiresConsultationWithinDay adds red flags to patients of random
// models, including tuples of low levels: the level of the evidence never falls, the
// result is never below it, and if the result falls, the patient is still seen within
// a day.
func TestRedFlagRequiresConsultationWithinDay(t *testing.T) {
	t.Parallel()
	e, falls := New(), 0
	for seed := range uint64(600) {
		random := rand.New(rand.NewPCG(seed, 4))
		r := drawUrgentRelease(t, random)
		list := parseEvidence("s_1")
		for i := 1; i < len(r.Observations); i++ {
			if random.IntN(3) == 0 {
				list = append(list, ReportedEvidence{ID: r.ObservationID(model.ObservationIndex(i)), Choice: Choice(random.IntN(3))})
			}
		}
		triage := func(more ...ReportedEvidence) (level, byEvidence model.TriageLevel, p Patient) {
			p, err := NewPatient(r, model.Female, 480, slices.Concat(list, more))
			if err != nil {
				t.Fatal(err)
			}
			return e.Triage(r, p, Options{}).Level, evidenceLevel(e, r, p), p
		}
		before, byEvidence, p := triage()
		for _, o := range reportableRedFlags(e, r, p) {
			after, byEvidenceAfter, _ := triage(ReportedEvidence{ID: r.ObservationID(o), Choice: Present})
			if byEvidenceAfter < byEvidence || after < byEvidenceAfter || after < min(before, model.Consultation24) {
				t.Errorf("world %d, %+v with %s: %v, of the evidence %v; before %v, %v", seed, list, r.ObservationID(o), after, byEvidenceAfter, before, byEvidence)
			}
			if after < before {
				falls++
			}
		}
	}
	t.Logf("%d red flags explained something more urgent away", falls)
	if falls < 10 {
		t.Errorf("only %d red flags explained something more urgent away", falls)
	}
}
