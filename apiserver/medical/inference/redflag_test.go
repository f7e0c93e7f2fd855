// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
)

// newRedFlagRelease has a complaint that a harmless condition and two emergencies
// cause, and red flags of every kind.
func newRedFlagRelease(t testing.TB) *model.Release {
	ambulance := func(o *model.DraftObservation) { o.Seriousness = model.SeriousnessEmergencyAmbulance }
	return modeltest.New().
		Condition("c_1", 0.05).Condition("c_2", 0.005, emergency).Condition("c_3", 0.001, emergency).
		Condition("c_4", 0.01, emergency). // unrelated to s_1
		Symptom("s_1", 0.02).
		Child("s_2", "s_1", model.CharacterRelation, 0.001, redFlag).
		Symptom("s_3", 0.001, redFlag).
		Symptom("s_4", 0.02).Child("s_5", "s_4", model.CharacterRelation, 0.001, ambulance).
		Symptom("s_6", 0.01, serious).
		Symptom("s_7", 0.02). // completes a tuple
		Symptom("s_8", 0.001, redFlag).
		Symptom("s_9", 0.02).
		Symptom("s_11", 0.001, ambulance, withoutQuestion).
		Symptom("s_12", 0.001, ambulance, func(o *model.DraftObservation) { o.Sex = model.MaleOnly }).
		Child("s_13", "s_1", model.SeverityRelation, 0.001, serious).Child("s_14", "s_1", model.SeverityRelation, 0.001, redFlag).
		OrderedGroup("s_13", "s_14").
		RiskFactor("p_1", 0.1).
		LabResult("lt_1", 0.01, ambulance).
		Tuple(model.Emergency, "s_1", "s_7").Tuple(model.EmergencyAmbulance, "s_1", "p_1").
		Link("c_1", "s_1", 0.9).Link("c_1", "s_6", 0.3).Link("c_1", "s_9", 0.9).
		Link("c_2", "s_1", 0.9).Link("c_2", "s_2", 0.8).Link("c_2", "s_3", 0.3).Link("c_2", "s_7", 0.2).Link("c_2", "s_11", 0.5).Link("c_2", "s_12", 0.5).
		Link("c_3", "s_1", 0.9).Link("c_3", "s_3", 0.6).Link("c_3", "s_4", 0.6).Link("c_3", "s_5", 0.5).
		Link("c_3", "s_13", 0.02).Link("c_3", "s_14", 0.03).
		Link("c_4", "s_8", 0.9).Link("c_4", "lt_1", 0.9).
		Factor("c_2", "p_1", 3, 0.8).
		Build(t)
}

func TestSuggestRedFlags(t *testing.T) {
	t.Parallel()
	r := newRedFlagRelease(t)
	for words, want := range map[string]string{
		"":         "", // none without evidence
		"-s_1":     "",
		"p_1":      "", // not a finding
		"s_9":      "s_6",
		"s_1":      "s_2 s_3 s_7 s_5 s_14 s_6",
		"s_1 -s_2": "s_3 s_5 s_7 s_14 s_6", // c_2 is less likely
		"s_1 ?s_3": "s_2 s_7 s_5 s_14 s_6",
		"s_1 -s_4": "s_2 s_3 s_7 s_14 s_6", // no child of an absent observation
		"s_1 ?s_4": "s_2 s_3 s_7 s_14 s_6",
		"s_1 s_4":  "s_5 s_3 s_2 s_14 s_7 s_6", // c_3 is more likely and causes both, and s_5 is a detail
		"s_1 s_9":  "s_2 s_3 s_7 s_5 s_14 s_6",
		"s_1 -s_6": "s_2 s_3 s_7 s_5 s_14",
		"s_1 s_13": "s_3 s_5", // serious evidence that only c_3 causes
		"s_1 s_3":  "s_5",     // an emergency: only higher levels
		"s_1 s_2":  "",        // c_3 is practically ruled out
		"s_1 s_14": "s_5",
		"s_1 s_7":  "s_5",
		"s_1 p_1":  "", // the highest level
		"s_8":      "", // its emergency is already present
		"s_3 -p_1": "s_5",
		"s_4":      "s_5 s_3 s_14",
		"s_4 s_9":  "s_5 s_3 s_14 s_6",
		"s_4 -s_1": "s_5 s_3",
	} {
		if got := formatSuggestions(t, r, words, SuggestRedFlags, 100); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

// TestSuggestPrefersRedFlagsOfMainSymptom expects that, of two equally likely
// emergencies, the one whose patients mostly report the findings of this patient ranks
// first, and that an observation that is an emergency in itself ranks whatever its
// cause, unless it is very unlikely.
func TestSuggestPrefersRedFlagsOfMainSymptom(t *testing.T) {
	t.Parallel()
	for itself, want := range map[float64]string{0.25: "s_6 s_4 s_5", 0.01: "s_4 s_5 s_6"} {
		r := modeltest.New().
			Condition("c_1", 0.05).Condition("c_2", 0.001, emergency).Condition("c_3", 0.002, emergency).
			Symptom("s_1", 0.02).Symptom("s_2", 0.02).
			Symptom("s_4", 0.001, serious).Symptom("s_5", 0.001, serious).Symptom("s_6", 0.001, redFlag).
			Link("c_1", "s_1", 0.9).Link("c_1", "s_6", itself).
			Link("c_2", "s_1", 0.9).Link("c_2", "s_4", 0.5).
			Link("c_3", "s_1", 0.45).Link("c_3", "s_2", 0.9).Link("c_3", "s_5", 0.5).
			Build(t)
		if got := formatSuggestions(t, r, "s_1!", SuggestRedFlags, 100); got != want {
			t.Errorf("with s_6 in %v of the likeliest condition: %q, want %q", itself, got, want)
		}
	}
}

// TestContentRedFlags reports each red flag suggested to patients of every condition,
// and expects that it raises the level of the evidence, and that a condition that the
// evidence makes possible causes it.
func TestContentRedFlags(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	count := 0
	for c := range someConditions(r, 3) {
		random := rand.New(rand.NewPCG(uint64(c), 63))
		patient, complaint, ok := drawSimulatedPatient(r, c, random)
		if !ok {
			t.Fatalf("%s has no finding for which a patient would seek care", r.ConditionID(c))
		}
		list := []ReportedEvidence{{ID: r.ObservationID(complaint), Choice: Present, Source: SourceInitial}}
		p := patient.after(t, list)
		before, possible := evidenceLevel(e, r, p), infer(e, r, p)
		for _, o := range e.Suggest(r, p, Options{}, SuggestRedFlags, 8) {
			count++
			with := patient.after(t, append(slices.Clone(list), ReportedEvidence{ID: r.ObservationID(o), Choice: Present, Source: SourceRedFlags}))
			if after := evidenceLevel(e, r, with); after <= before {
				t.Errorf("%s with %s: evidence level is %v, previously %v", r.ObservationID(complaint), r.ObservationID(o), after, before)
			}
			isRelated := false
			for condition, probability := range possible {
				isRelated = isRelated || probability >= dangerousFloor && hasLinkOrFactor(r, o, model.ConditionIndex(condition))
			}
			if !isRelated {
				t.Errorf("%s is not a red flag of any condition suspected from %s", r.ObservationID(o), r.ObservationID(complaint))
			}
		}
	}
	if count < len(r.Conditions)/8 {
		t.Errorf("only %d red flags for patients with %d conditions", count, len(r.Conditions)/8)
	}
}

// evidenceLevel returns the part of the triage level that depends on evidence and
// tuples.
func evidenceLevel(e *Engine, r *model.Release, p Patient) model.TriageLevel {
	s := e.getScratch(r, &p)
	defer e.putScratch(s)
	return s.evidenceLevel
}
