// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/google/go-cmp/cmp"
)

// withSpecialists returns a builder with the specialists of the tests in addition to
// the general practitioner, and an edit that assigns specialists to a condition.
func withSpecialists() (b *modeltest.Builder, see func(numbers ...uint32) func(*model.DraftCondition)) {
	b = modeltest.New()
	draft := b.Draft()
	for number, name := range map[uint32]string{2: "Internist", 3: "Pediatrician", 17: "Neurologist", 26: "Neonatologist", 9: "Dermatologist", 12: "Cardiologist"} {
		draft.Specialists = append(draft.Specialists, &model.DraftNamedItem{Number: number, Name: name})
	}
	return b, func(numbers ...uint32) func(*model.DraftCondition) {
		return func(c *model.DraftCondition) {
			c.Specialists = nil
			for _, number := range numbers {
				for _, s := range draft.Specialists {
					if s.Number == number {
						c.Specialists = append(c.Specialists, s)
					}
				}
			}
		}
	}
}

// newSpecialistRelease has conditions of several specialists, each with a separate
// symptom in addition to the shared one.
func newSpecialistRelease(t testing.TB) *model.Release {
	b, see := withSpecialists()
	for i, numbers := range [][]uint32{{17}, {12, 1}, {1, 9}, {1, 3}, {3, 1}, {2, 17}, {26}} {
		id, own := fmt.Sprintf("c_%d", i+1), fmt.Sprintf("s_%d", i+2)
		b.Condition(id, 0.02, see(numbers...)).Symptom(own, 0.001).Link(id, own, 0.9)
	}
	b.Symptom("s_1", 0.001).Symptom("s_20", 0.1).Symptom("s_21", 0.3).Link("c_1", "s_21", 0.9)
	for i := range 7 {
		b.Link(fmt.Sprintf("c_%d", i+1), "s_1", 0.9)
	}
	return b.Build(t)
}

// recommendation returns the specialist for a female patient of an age in months.
func recommendation(t testing.TB, r *model.Release, words string, age int, mapping map[uint32]uint32) string {
	t.Helper()
	p, err := NewPatient(r, model.Female, age, parseEvidence(words))
	if err != nil {
		t.Fatal(err)
	}
	got, ok := New().Recommend(r, p, Options{}, mapping)
	if !ok {
		return ""
	}
	return r.SpecialistID(got.Specialist)
}

func TestRecommend(t *testing.T) {
	t.Parallel()
	r := newSpecialistRelease(t)
	const adult, child = 480, 120
	for _, test := range []struct {
		name, evidence string
		age            int
		mapping        map[uint32]uint32
		want           string
	}{
		{"of the likely condition", "s_2", adult, nil, "sp_17"},
		{"the preferred one", "s_3", adult, nil, "sp_12"},
		{"nothing is known", "", adult, nil, "sp_1"},
		{"nothing is present", "-s_2", adult, nil, "sp_1"},
		{"a symptom of nothing", "s_20", adult, nil, "sp_1"},
		{"an unlikely condition", "s_21", adult, nil, "sp_1"},
		{"the many lists that end with the general practitioner", "s_1", adult, nil, "sp_1"},
		{"a general practitioner of a child", "s_4", child, nil, "sp_3"},
		{"nothing is known of a child", "", child, nil, "sp_3"},
		{"an internist of a child", "s_7", child, nil, "sp_3"},
		{"a neurologist of a child", "s_2", child, nil, "sp_17"},
		{"a pediatrician who comes second", "s_5", adult, nil, "sp_1"},
		{"a pediatrician of an adult", "s_6", adult, nil, "sp_1"},
		{"a neonatologist of an adult", "s_8", adult, nil, "sp_1"},
		{"a neonatologist of a newborn", "s_8", 0, nil, "sp_26"},
		{"the day before the eighteenth birthday", "s_4", adultAgeMonths - 1, nil, "sp_3"},
		{"the eighteenth birthday", "s_4", adultAgeMonths, nil, "sp_1"},
		{"mapped", "s_2", adult, map[uint32]uint32{17: 2}, "sp_2"},
		{"mapped once only", "s_2", adult, map[uint32]uint32{17: 2, 2: 9}, "sp_2"},
		{"not mapped", "s_2", adult, map[uint32]uint32{12: 2}, "sp_17"},
		{"mapped to an unknown specialist", "s_2", adult, map[uint32]uint32{17: 99}, "sp_17"},
		{"mapped to itself", "s_2", adult, map[uint32]uint32{17: 17}, "sp_17"},
		{"mapped after the age check", "s_4", child, map[uint32]uint32{3: 1, 1: 9}, "sp_1"},
		{"all mapped to one", "s_1", adult, map[uint32]uint32{1: 9, 2: 9, 12: 9, 17: 9}, "sp_9"},
		{"the general practitioner mapped", "", adult, map[uint32]uint32{1: 2}, "sp_2"},
	} {
		if got := recommendation(t, r, test.evidence, test.age, test.mapping); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestRecommendAppliesMappingBeforeVote expects two specialists who would each lose to
// win together.
func TestRecommendAppliesMappingBeforeVote(t *testing.T) {
	t.Parallel()
	b, see := withSpecialists()
	r := b.Symptom("s_1", 0.0001).
		Condition("c_1", 0.04, see(17)).Condition("c_2", 0.03, see(12)).Condition("c_3", 0.03, see(9)).
		Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Link("c_3", "s_1", 0.9).Build(t)
	for want, mapping := range map[string]map[uint32]uint32{"sp_17": nil, "sp_12": {9: 12}, "sp_2": {9: 2, 12: 2}, "sp_9": {12: 9, 17: 9}} {
		if got := recommendation(t, r, "s_1", 480, mapping); got != want {
			t.Errorf("mapping %v: %s, want %s", mapping, got, want)
		}
	}
}

// TestSpecialistListedTwiceCountsOnce expects specialists that a mapping merges to
// count at the better of their positions.
func TestSpecialistListedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	b, see := withSpecialists()
	r := b.Symptom("s_1", 0.0001).
		Condition("c_1", 0.03, see(17, 12)).Condition("c_2", 0.04, see(9)).
		Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Build(t)
	for want, mapping := range map[string]map[uint32]uint32{"sp_9": {17: 12}, "sp_12": {9: 12}} {
		if got := recommendation(t, r, "s_1", 480, mapping); got != want {
			t.Errorf("mapping %v: %s, want %s", mapping, got, want)
		}
	}
}

func TestNoRecommendationInEmergency(t *testing.T) {
	t.Parallel()
	r := newTriageRelease(t)
	for words, want := range map[string]bool{"": true, "s_1": true, "s_3": true, "s_4": false, "s_5": false, "s_1 p_1": false} {
		for _, three := range []bool{false, true} {
			got, ok := New().Recommend(r, newFemalePatient(t, r, words), Options{ThreeLevels: three}, nil)
			if ok != want || !ok && got != (Recommendation{}) {
				t.Errorf("%q, three levels %v: %v, %+v", words, three, ok, got)
			}
		}
	}
}

// TestChannelIsMostCautious sets two conditions with a channel each, and varies the
// probability of the second.
func TestChannelIsMostCautious(t *testing.T) {
	t.Parallel()
	channels := []model.Channel{model.PersonalVisit, model.VideoTeleconsultation, model.AudioTeleconsultation, model.TextTeleconsultation}
	for _, likely := range channels {
		for _, other := range channels {
			for odds, counts := range map[float64]bool{0.05: false, 0.5: true} {
				r := modeltest.New().
					Condition("c_1", 0.3, func(c *model.DraftCondition) { c.Channel, c.Triage = likely, model.SelfCare }).
					Condition("c_2", 0.3*odds, func(c *model.DraftCondition) { c.Channel, c.Triage = other, model.SelfCare }).
					Symptom("s_1", 0.01).Link("c_1", "s_1", 0.9).Link("c_2", "s_1", 0.9).Build(t)
				want := likely
				if counts {
					want = min(likely, other)
				}
				got, ok := New().Recommend(r, newFemalePatient(t, r, "s_1"), Options{}, nil)
				if !ok || got.Channel != want {
					t.Errorf("%v, and %v with odds %v: %v, %v, want %v", likely, other, odds, ok, got.Channel, want)
				}
			}
		}
	}
}

// TestUnexplainedComplaintNeedsPersonalVisit although a teleconsultation would suffice
// for the likely condition.
func TestUnexplainedComplaintNeedsPersonalVisit(t *testing.T) {
	t.Parallel()
	text := func(c *model.DraftCondition) { c.Channel, c.Triage = model.TextTeleconsultation, model.SelfCare }
	r := modeltest.New().
		Condition("c_1", 0.3, text).
		Condition("c_2", 0.01, emergency, func(c *model.DraftCondition) { c.Channel = model.TextTeleconsultation }).
		Symptom("s_1", 0.01).Symptom("s_2", 0.01, serious).Symptom("s_3", 0.0001).Symptom("s_4", 0.3).Symptom("s_5", 0.05, redFlag).
		Link("c_1", "s_1", 0.9).Link("c_1", "s_2", 0.9).Link("c_1", "s_3", 0.9).
		Link("c_2", "s_3", 0.9).Link("c_2", "s_5", 0.5).Build(t)
	for words, want := range map[string]model.Channel{
		"s_1": model.TextTeleconsultation, "s_1 s_2": model.PersonalVisit, // serious evidence
		"s_3": model.PersonalVisit,                          // an emergency is possible
		"s_4": model.PersonalVisit, "": model.PersonalVisit, // unexplained
	} {
		p := newFemalePatient(t, r, words)
		if got, ok := New().Recommend(r, p, Options{}, nil); !ok || got.Channel != want {
			t.Errorf("%q: %v, %v, want %v (triage %+v)", words, ok, got.Channel, want, New().Triage(r, p, Options{}))
		}
	}
}

// TestContentRecommendations checks, for random evidence, the documented rules about
// ages, emergencies, and the order of the evidence.
func TestContentRecommendations(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	random := rand.New(rand.NewPCG(71, 71))
	for range 1000 {
		list, sex, age := drawAnyEvidence(r, random), model.Sex(random.IntN(2)), random.IntN(1200)
		p, err := NewPatient(r, sex, age, list)
		if err != nil {
			t.Fatal(err)
		}
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		shuffled, err := NewPatient(r, sex, age, list)
		if err != nil {
			t.Fatal(err)
		}
		mapping := map[uint32]uint32{r.Specialists[random.IntN(len(r.Specialists))].Number: r.Specialists[random.IntN(len(r.Specialists))].Number}
		got, ok := e.Recommend(r, p, Options{}, mapping)
		again, _ := e.Recommend(r, shuffled, Options{}, mapping)
		if diff := cmp.Diff(got, again); diff != "" {
			t.Fatalf("in another order of the evidence: %s", diff)
		}
		if want := e.Triage(r, p, Options{}).Level < model.Emergency; ok != want {
			t.Errorf("recommended %v at %v", ok, e.Triage(r, p, Options{}).Level)
		}
		plain, ok := e.Recommend(r, p, Options{}, nil)
		number := r.Specialists[plain.Specialist].Number
		if grown := age >= adultAgeMonths; ok && (grown && (number == pediatrician || number == neonatologist) || !grown && (number == generalPractitioner || number == internist)) {
			t.Errorf("a patient of %d months should see %s", age, r.SpecialistID(plain.Specialist))
		}
	}
}

// BenchmarkRecommend uses the synthetic model of the size of a full catalog.
func BenchmarkRecommend(b *testing.B) {
	r, e := syntheticRelease(b), New()
	patients, mapping := workload(b, r, 100, 4), map[uint32]uint32{1: 2}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Recommend(r, patients[i%len(patients)], Options{}, mapping)
	}
}

// BenchmarkTriage uses the same model.
func BenchmarkTriage(b *testing.B) {
	r, e := syntheticRelease(b), New()
	patients := workload(b, r, 100, 4)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Triage(r, patients[i%len(patients)], Options{})
	}
}
