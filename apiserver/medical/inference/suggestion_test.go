// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// formatSuggestions returns the suggestions for a 40-year-old woman, by ID.
func formatSuggestions(t testing.TB, r *model.Release, words string, method SuggestMethod, most int) string {
	t.Helper()
	return strings.Join(observationIDs(r, New().Suggest(r, newFemalePatient(t, r, words), Options{}, method, most)), " ")
}

// newSuggestionRelease has a complaint with two explanations, their other
// observations, and everything that must not be suggested.
func newSuggestionRelease(t testing.TB) *model.Release {
	b := modeltest.New().
		Condition("c_1", 0.02).Condition("c_2", 0.01).Condition("c_3", 0.1).
		Condition("c_4", 0.05, func(c *model.DraftCondition) { c.AgeTo = 24 }).
		Symptom("s_1", 0.01).
		Child("s_2", "s_1", model.CharacterRelation, 0.005).
		Child("s_3", "s_1", model.SeverityRelation, 0.002).Child("s_4", "s_1", model.SeverityRelation, 0.002).
		OrderedGroup("s_3", "s_4").
		Symptom("s_5", 0.02).Symptom("s_6", 0.02).Symptom("s_7", 0.2).
		Child("s_8", "s_6", model.CharacterRelation, 0.01).
		Symptom("s_9", 0.0001). // rarely reported
		Symptom("s_11", 0.3, withoutQuestion).
		Symptom("s_12", 0.3, func(o *model.DraftObservation) { o.Sex = model.MaleOnly }).
		Symptom("s_13", 0.3, func(o *model.DraftObservation) { o.AgeTo = 24 }).
		Symptom("s_14", 0.01).
		Symptom("s_15", 0.001).Child("s_16", "s_15", model.CharacterRelation, 0.0005).
		RiskFactor("p_1", 0.3).RiskFactor("p_2", 0.3).RiskFactor("p_3", 0.3). // p_3 has no factor
		RiskFactor("p_7", 0.2).RiskFactor("p_13", 0.2).
		RiskFactor("p_4", 0.2, func(o *model.DraftObservation) { o.Sex = model.MaleOnly }).
		LabResult("lt_1", 0.05, withoutQuestion)
	for _, id := range []string{"s_1", "s_2", "s_3", "s_4", "s_5"} {
		b.Link("c_1", id, map[string]float64{"s_1": 0.9, "s_2": 0.5, "s_3": 0.2, "s_4": 0.4, "s_5": 0.8}[id])
	}
	return b.Link("c_2", "s_1", 0.9).Link("c_2", "s_6", 0.8).Link("c_2", "s_8", 0.4).
		Link("c_1", "lt_1", 0.9).Link("c_1", "s_9", 0.0002).
		Link("c_3", "s_14", 0.9).Link("c_4", "s_14", 0.9).
		Factor("c_1", "p_1", 3, 0.5).Factor("c_3", "p_2", 3, 0.7).
		Factor("c_1", "p_7", 9, 0.2).Factor("c_1", "p_13", 9, 0.2).Factor("c_1", "p_4", 9, 0.2).
		Build(t)
}

func TestSuggestSymptoms(t *testing.T) {
	t.Parallel()
	r := newSuggestionRelease(t)
	for words, want := range map[string]string{
		// Without evidence, the common symptoms: s_7 and s_14 through the leak and a frequent
		// condition.
		"": "s_7 s_14 s_1 s_5 s_6",
		// With evidence, the symptoms of the likely conditions; then details of present ones,
		// with the more likely level of severity.
		"s_1":           "s_5 s_6 s_7 s_14 s_2 s_4",
		"s_1 s_3":       "s_5 s_7 s_14 s_6 s_2", // a level that c_2 never reaches
		"s_1 -s_5":      "s_6 s_7 s_14 s_2 s_4",
		"s_1 ?s_5 -s_2": "s_6 s_7 s_14 s_4",
		"-s_1":          "s_7 s_14 s_5 s_6", // no child of an absent observation
		"-s_6 -s_7":     "s_14 s_5 s_1",
		"s_6":           "s_1 s_7 s_14 s_5 s_8",
		"s_15":          "s_7 s_14 s_1 s_5 s_6 s_16", // rare, but common if its parent is present
		"p_2":           "s_14 s_7 s_1 s_5 s_6",      // a risk factor counts
	} {
		if got := formatSuggestions(t, r, words, SuggestSymptoms, 100); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

func TestSuggestRiskFactors(t *testing.T) {
	t.Parallel()
	r := newSuggestionRelease(t)
	for words, want := range map[string]string{
		"":          "p_2 p_1", // c_3 is frequent
		"s_1":       "p_1",     // and unrelated to the complaint
		"s_1 p_1":   "",
		"s_1 -p_1":  "",
		"?p_2":      "p_1",
		"-s_1 -s_5": "p_2 p_1",
		"p_7":       "p_1 p_2", // which makes c_1 likely
	} {
		if got := formatSuggestions(t, r, words, SuggestRiskFactors, 100); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

// TestSuggestDemographicRiskFactors expects known risk factors to be omitted, and the
// other evidence to have no effect.
func TestSuggestDemographicRiskFactors(t *testing.T) {
	t.Parallel()
	r := newSuggestionRelease(t)
	for words, want := range map[string]string{
		"":             "p_2 p_1",
		"s_1":          "p_2 p_1",
		"s_1! s_2 s_5": "p_2 p_1",
		"s_1 -p_2":     "p_1",
		"s_14 p_7":     "p_2 p_1",
		"p_1 ?p_2":     "",
	} {
		if got := formatSuggestions(t, r, words, SuggestDemographicRiskFactors, 100); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
	boy, err := NewPatient(r, model.Male, 24, parseEvidence("s_1"))
	if err != nil {
		t.Fatal(err)
	}
	if got := observationIDs(r, New().Suggest(r, boy, Options{}, SuggestDemographicRiskFactors, 9)); !slices.Contains(got, "p_4") {
		t.Errorf("got %v for a boy, want no p_4, which applies to men", got)
	}
}

func TestSuggestEvidenceRiskFactors(t *testing.T) {
	t.Parallel()
	r := newSuggestionRelease(t)
	for words, want := range map[string]string{
		"":          "",
		"-s_1 -s_5": "",
		"p_7":       "",
		"s_1":       "p_1",
		"s_14":      "p_2",
		"s_1 s_14":  "p_1 p_2",
		"s_1 p_1":   "",
	} {
		if got := formatSuggestions(t, r, words, SuggestEvidenceRiskFactors, 100); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

func TestSuggestRespectsLimit(t *testing.T) {
	t.Parallel()
	r := newSuggestionRelease(t)
	all := strings.Fields(formatSuggestions(t, r, "s_1", SuggestSymptoms, 100))
	for most := -1; most <= len(all)+1; most++ {
		want := strings.Join(all[:max(min(most, len(all)), 0)], " ")
		if got := formatSuggestions(t, r, "s_1", SuggestSymptoms, most); got != want {
			t.Errorf("at most %d: %q, want %q", most, got, want)
		}
	}
	for method := range SuggestEvidenceRiskFactors + 1 {
		if list := New().Suggest(r, newFemalePatient(t, r, ""), Options{}, method, 0); list == nil {
			t.Errorf("method %d: nil in place of an empty list", method)
		}
	}
}

// TestSuggestionProbabilitiesMatchEnumeration compares the probability of a root
// symptom with the ratio of the likelihoods of the evidence with and without it.
func TestSuggestionProbabilitiesMatchEnumeration(t *testing.T) {
	t.Parallel()
	e, off, n := New(), 0.0, 0
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 61))
		w := newFlatReferenceModel(t, random)
		a := answers{}
		for range random.IntN(3) {
			a[random.IntN(len(w.nodes))] = Choice(1 + random.IntN(2))
		}
		p, err := NewPatient(w.release, model.Female, 400, w.evidence(a, random))
		if err != nil {
			t.Fatal(err)
		}
		s := e.getScratch(w.release, &p)
		s.infer()
		s.computeAbsence()
		for node := range w.nodes {
			if _, known := a[node]; known {
				continue
			}
			with := answers{node: Present}
			for k, choice := range a {
				with[k] = choice
			}
			exact := w.evidenceLikelihood(with) / w.evidenceLikelihood(a)
			got := 1 - s.absence[node]
			if len(a) == 0 && math.Abs(got-exact) > 1e-12 {
				t.Errorf("world %d: without evidence s_%d has the chance %v, by enumeration %v", seed, node+1, got, exact)
			}
			off, n = off+math.Abs(got-exact), n+1
		}
		e.putScratch(s)
	}
	t.Logf("%d chances are off by %.4f on average", n, off/float64(n))
	if off/float64(n) > 0.02 {
		t.Errorf("chances are off by %.4f on average", off/float64(n))
	}
}

// checkSuggestion checks that an observation may be suggested.
func checkSuggestion(t *testing.T, r *model.Release, p *Patient, list []ReportedEvidence, method SuggestMethod, o model.ObservationIndex) {
	t.Helper()
	id, observation := r.ObservationID(o), &r.Observations[o]
	applies := slices.DeleteFunc(slices.Clone(list), func(e ReportedEvidence) bool {
		reported, _ := r.ObservationByID(e.ID)
		return !p.isApplicable(&r.Observations[reported])
	})
	if slices.ContainsFunc(list, func(e ReportedEvidence) bool { return e.ID == id }) || isPresentIn(r, applies, o) {
		t.Errorf("%s is known", id)
	}
	if observation.Question.Length == 0 || !p.isApplicable(observation) || isClientProvided(observation) || observation.Kind == model.LabResult {
		t.Errorf("%s cannot be reported by a patient of %d months", id, p.ageMonths)
	}
	if method == SuggestSymptoms && observation.Kind != model.Symptom || isRiskFactorMethod(method) && observation.Kind != model.RiskFactor {
		t.Errorf("method %d suggests %s", method, id)
	}
	for n := o; n != model.None; n = r.Observations[n].Parent {
		if f := p.find(n); f != nil && f.choice != Present {
			t.Errorf("%s is suggested although %s is not present", id, r.ObservationID(n))
		}
		if group := exclusiveGroup(r, n); group != model.None && p.find(n) == nil && p.chosenItem(r, group) != model.None {
			t.Errorf("%s is suggested although its group is settled", id)
		}
	}
}

func isRiskFactorMethod(method SuggestMethod) bool {
	return method == SuggestRiskFactors || method == SuggestDemographicRiskFactors || method == SuggestEvidenceRiskFactors
}

// BenchmarkSuggest uses the synthetic model of the size of a full catalog.
func BenchmarkSuggest(b *testing.B) {
	r, e := syntheticRelease(b), New()
	patients := workload(b, r, 100, 4)
	for method, name := range []string{"symptoms", "risk_factors", "red_flags", "demographic_risk_factors", "evidence_based_risk_factors"} {
		b.Run(fmt.Sprintf("method=%s", name), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e.Suggest(r, patients[i%len(patients)], Options{}, SuggestMethod(method), 8)
			}
		})
	}
}
