// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
)

// alarmingRelease has a complaint that a harmless condition and two
// emergencies bring, and red flags of every kind.
func alarmingRelease(t testing.TB) *model.Release {
	ambulance := func(o *model.DraftObservation) { o.Seriousness = model.SeriousnessEmergencyAmbulance }
	return modeltest.New().
		Condition("c_1", 0.05).Condition("c_2", 0.005, emergency).Condition("c_3", 0.001, emergency).
		Condition("c_4", 0.01, emergency). // has nothing to do with s_1
		Symptom("s_1", 0.02).
		Child("s_2", "s_1", model.Character, 0.001, redFlag).
		Symptom("s_3", 0.001, redFlag).
		Symptom("s_4", 0.02).Child("s_5", "s_4", model.Character, 0.001, ambulance).
		Symptom("s_6", 0.01, serious).
		Symptom("s_7", 0.02). // completes a tuple
		Symptom("s_8", 0.001, redFlag).
		Symptom("s_9", 0.02).
		Symptom("s_11", 0.001, ambulance, withoutWords).
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

func TestSuggestedRedFlags(t *testing.T) {
	t.Parallel()
	r := alarmingRelease(t)
	for words, want := range map[string]string{
		"":         "", // nothing without evidence
		"-s_1":     "",
		"p_1":      "", // which is no finding
		"s_9":      "s_6",
		"s_1":      "s_2 s_3 s_7 s_5 s_14 s_6",
		"s_1 -s_2": "s_3 s_5 s_7 s_14 s_6", // c_2 is less likely
		"s_1 ?s_3": "s_2 s_7 s_5 s_14 s_6",
		"s_1 -s_4": "s_2 s_3 s_7 s_14 s_6", // no child of what is absent
		"s_1 ?s_4": "s_2 s_3 s_7 s_14 s_6",
		"s_1 s_4":  "s_5 s_3 s_2 s_14 s_7 s_6", // c_3 is likelier and brings both, and s_5 is a detail
		"s_1 s_9":  "s_2 s_3 s_7 s_5 s_14 s_6",
		"s_1 -s_6": "s_2 s_3 s_7 s_5 s_14",
		"s_1 s_13": "s_3 s_5", // serious evidence, which c_3 alone brings
		"s_1 s_3":  "s_5",     // an emergency: only what is worse
		"s_1 s_2":  "",        // c_3 is as good as ruled out
		"s_1 s_14": "s_5",
		"s_1 s_7":  "s_5",
		"s_1 p_1":  "", // the worst there is
		"s_8":      "", // its emergency is there already
		"s_3 -p_1": "s_5",
		"s_4":      "s_5 s_3 s_14",
		"s_4 s_9":  "s_5 s_3 s_14 s_6",
		"s_4 -s_1": "s_5 s_3",
	} {
		if got := suggested(t, r, words, SuggestRedFlags, 100); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

// TestRedFlagsOfWhatPatientsComeForComeFirst: of two emergencies as likely,
// that counts more whose patients report mostly what this one does; and what is
// an emergency by itself counts whatever brings it, unless it is far from
// likely.
func TestRedFlagsOfWhatPatientsComeForComeFirst(t *testing.T) {
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
		if got := suggested(t, r, "s_1!", SuggestRedFlags, 100); got != want {
			t.Errorf("with s_6 in %v of the likeliest condition: %q, want %q", itself, got, want)
		}
	}
}

// TestRedFlagsOfTheContent reports each red flag that is suggested to patients
// of every condition: it raises what the evidence asks for, and a condition
// that the evidence makes possible brings it.
func TestRedFlagsOfTheContent(t *testing.T) {
	t.Parallel()
	r, e := real(t), New()
	count := 0
	for c := range someConditions(r, 3) {
		random := rand.New(rand.NewPCG(uint64(c), 63))
		patient, complaint, ok := drawSimulated(r, c, random)
		if !ok {
			t.Fatalf("%s brings nothing that a patient would come for", r.ConditionID(c))
		}
		list := []ReportedEvidence{{ID: r.ObservationID(complaint), Choice: Present, Source: SourceInitial}}
		p := patient.after(t, list)
		before, possible := levelOfEvidence(e, r, p), infer(e, r, p)
		for _, o := range e.Suggest(r, p, Options{}, SuggestRedFlags, 8) {
			count++
			with := patient.after(t, append(slices.Clone(list), ReportedEvidence{ID: r.ObservationID(o), Choice: Present, Source: SourceRedFlags}))
			if after := levelOfEvidence(e, r, with); after <= before {
				t.Errorf("%s with %s: the evidence asks for %v, before for %v", r.ObservationID(complaint), r.ObservationID(o), after, before)
			}
			brings := false
			for condition, probability := range possible {
				brings = brings || probability >= dangerousFloor && joined(r, o, model.ConditionIndex(condition))
			}
			if !brings {
				t.Errorf("%s is a red flag of no condition that %s makes possible", r.ObservationID(o), r.ObservationID(complaint))
			}
		}
	}
	if count < len(r.Conditions)/8 {
		t.Errorf("only %d red flags for patients with %d conditions", count, len(r.Conditions)/8)
	}
}

// levelOfEvidence is the part of the triage level that rests on evidence and
// tuples.
func levelOfEvidence(e *Engine, r *model.Release, p Patient) model.TriageLevel {
	s := e.acquire(r, &p)
	defer e.release(s)
	return s.byEvidence
}
