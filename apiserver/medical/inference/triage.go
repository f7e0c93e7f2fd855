// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// The triage level of the conditions depends on the probability that a condition of a
// level or above is present. Sending a patient with an emergency home is the worst
// error, and an unnecessary consultation the mildest, so the thresholds decrease as the
// levels rise. They were calibrated on patients drawn from the content: with these
// values, nine in ten emergencies and one in a hundred harmless cases are sent to an
// emergency department.
const (
	// ambulanceThreshold and emergencyLikelyThreshold are the minimum probabilities for an
	// emergency to be a leading explanation: one patient in four has it.
	ambulanceThreshold       = 0.25
	emergencyLikelyThreshold = 0.25
	// emergencyPossibleThreshold is the minimum probability for an emergency department to
	// rule out an emergency: one in twenty.
	emergencyPossibleThreshold = 0.05
	// emergencyRuleOutThreshold is the minimum probability for a doctor to rule out an
	// emergency within a day: one in fifty. Emergency physicians discharge patients with
	// chest pain at one in a hundred (Than et al. 2013), but that is the risk of one
	// specific emergency. This threshold applies to the sum over the 220 emergencies in
	// the catalog, many of which keep a small probability in most patients.
	emergencyRuleOutThreshold = 0.02
	// promptConsultationThreshold is the minimum probability of a condition of
	// consultation_24 or above for a doctor to see the patient within a day: one in eight.
	promptConsultationThreshold = 0.12
	// consultationThreshold is the minimum probability of a condition that needs a doctor
	// for the patient to see one.
	consultationThreshold = 0.15
	// selfCareThreshold is the minimum probability of a harmless condition for self-care
	// to suffice, if no other threshold is reached. Below it, the complaint is
	// unexplained, and unexplained complaints need a doctor.
	selfCareThreshold = 0.4
)

// RootCause is the reason for a triage level.
type RootCause uint8

// Root causes.
const (
	DiagnosisUnknown RootCause = iota
	SelfCareSufficient
	ConsultationConditionLikely
	EmergencyConditionPossible
	EmergencyConditionLikely
	SeriousEvidencePresent
	EmergencyEvidencePresent
)

var rootCauseNames = [...]string{
	"diagnosis_unknown", "self_care_sufficient", "consultation_condition_likely",
	"emergency_condition_possible", "emergency_condition_likely",
	"serious_evidence_present", "emergency_evidence_present",
}

// String returns the API name of the root cause, such as self_care_sufficient.
func (c RootCause) String() string { return rootCauseNames[c] }

// A SeriousObservation is a present observation that is serious, alone or together
// with others. Its seriousness is the highest of its own seriousness and the
// seriousness of the present tuples that contain it.
type SeriousObservation struct {
	Observation model.ObservationIndex
	Seriousness model.Seriousness
}

// A Triage describes how urgent the patient's case is, and why.
type Triage struct {
	Level     model.TriageLevel
	RootCause RootCause
	// Serious lists the present observations that are serious alone or together with
	// others, most serious first.
	Serious []SeriousObservation
	// TeleconsultationApplicable is true if a remote consultation is a suitable first
	// step, because the patient need not be seen immediately. It is meant for clients that
	// use the five levels.
	TeleconsultationApplicable bool
}

// Triage classifies how urgent the patient's case is. The level is the higher of two:
// the level of the reported observations alone, which never falls when a present
// observation is added, and the level of the likely conditions. The latter may fall if
// another condition explains the findings better. If a red flag has this effect (an
// observation that is serious alone or completes a tuple), the level is never below
// consultation_24.
func (e *Engine) Triage(r *model.Release, p Patient, o Options) Triage {
	s := e.getScratch(r, p.forOptions(o))
	defer e.putScratch(s)
	return s.classify(o)
}

// HasEmergencyEvidence returns the value of Assessment.HasEmergencyEvidence, without
// ranking the conditions.
func (e *Engine) HasEmergencyEvidence(r *model.Release, p Patient) bool {
	s := e.getScratch(r, &p)
	defer e.putScratch(s)
	return s.hasEmergencyEvidence()
}

func (s *scratch) hasEmergencyEvidence() bool { return s.evidenceLevel >= model.Emergency }

// classify ranks the conditions unless the evidence calls for an ambulance, since no
// condition can raise the level further.
func (s *scratch) classify(o Options) Triage {
	if s.evidenceLevel == model.EmergencyAmbulance {
		return s.buildTriage(s.evidenceLevel, EmergencyEvidencePresent, o)
	}
	s.infer()
	level, cause := s.triageLevel()
	return s.buildTriage(level, cause, o)
}

// buildTriage returns a triage of the given level, converted to the scale that the
// client uses.
func (s *scratch) buildTriage(level model.TriageLevel, cause RootCause, o Options) Triage {
	return Triage{Level: o.displayedLevel(level), RootCause: cause, Serious: s.seriousObservations(), TeleconsultationApplicable: level < model.Emergency}
}

// triageLevel returns the triage level and its root cause.
func (s *scratch) triageLevel() (model.TriageLevel, RootCause) {
	level, cause := s.conditionLevel()
	switch {
	case s.evidenceLevel < level || s.evidenceLevel == model.NoTriageLevel:
		return level, cause
	case s.evidenceLevel >= model.Emergency:
		return s.evidenceLevel, EmergencyEvidencePresent
	default:
		return s.evidenceLevel, SeriousEvidencePresent
	}
}

// evaluateEvidence computes the triage level of the present observations and complete
// tuples, and the levels of tuples with one missing observation.
func (s *scratch) evaluateEvidence() {
	s.evidenceLevel = model.NoTriageLevel
	for _, o := range s.p.present {
		s.evidenceLevel = max(s.evidenceLevel, seriousnessLevel(s.r.Observations[o].Seriousness))
	}
	s.completionLevels = resizedZero(s.completionLevels, len(s.r.Observations))
	for i := range s.r.Tuples {
		t := &s.r.Tuples[i]
		switch missing, count := s.missingItem(t); count {
		case 0:
			s.evidenceLevel = max(s.evidenceLevel, tupleLevel(t))
		case 1:
			s.completionLevels[missing] = max(s.completionLevels[missing], tupleLevel(t))
		}
	}
}

// tupleLevel returns the triage level of a tuple, which is at least the level of a
// serious observation. An observation that completes a tuple is a red flag, which may
// explain away a previously suspected emergency. This minimum ensures that the patient
// is still seen within a day, even if the tuple has a lower level.
func tupleLevel(t *model.Tuple) model.TriageLevel { return max(t.Level, model.Consultation24) }

// missingItem returns an observation of a tuple that is not present, and the number of
// such observations, counting up to two.
func (s *scratch) missingItem(t *model.Tuple) (missing model.ObservationIndex, count int) {
	for _, o := range model.Slice(s.r.TupleItems, t.Observations) {
		if s.state[o] == statePresent {
			continue
		}
		if count++; count == 2 {
			break
		}
		missing = o
	}
	return missing, count
}

// standaloneLevels are the triage levels that a present observation requires alone, by
// seriousness.
var standaloneLevels = [...]model.TriageLevel{
	model.NotSerious:                    model.NoTriageLevel,
	model.Serious:                       model.Consultation24,
	model.SeriousnessEmergency:          model.Emergency,
	model.SeriousnessEmergencyAmbulance: model.EmergencyAmbulance,
}

// seriousnessLevel returns the triage level that a present observation of the given
// seriousness requires alone.
func seriousnessLevel(v model.Seriousness) model.TriageLevel { return standaloneLevels[v] }

// conditionLevel returns the triage level of the conditions that may be present.
func (s *scratch) conditionLevel() (model.TriageLevel, RootCause) {
	return levelForProbabilities(s.conditionLevelProbabilities())
}

// levelForProbabilities returns the triage level of the conditions, given for each
// level the probability that a condition of that level or above is present.
func levelForProbabilities(mass levelProbabilities) (model.TriageLevel, RootCause) {
	switch {
	case mass[model.EmergencyAmbulance] >= ambulanceThreshold:
		return model.EmergencyAmbulance, EmergencyConditionLikely
	case mass[model.Emergency] >= emergencyLikelyThreshold:
		return model.Emergency, EmergencyConditionLikely
	case mass[model.Emergency] >= emergencyPossibleThreshold:
		return model.Emergency, EmergencyConditionPossible
	case mass[model.Emergency] >= emergencyRuleOutThreshold:
		return model.Consultation24, EmergencyConditionPossible
	case mass[model.Consultation24] >= promptConsultationThreshold:
		return model.Consultation24, ConsultationConditionLikely
	case mass[model.Consultation] >= consultationThreshold:
		return model.Consultation, ConsultationConditionLikely
	case mass[model.SelfCare] >= selfCareThreshold:
		return model.SelfCare, SelfCareSufficient
	default:
		return model.Consultation, DiagnosisUnknown
	}
}

// conditionLevelProbabilities returns, for each level, the probability that a
// condition of that level or above is present.
func (s *scratch) conditionLevelProbabilities() (mass [model.EmergencyAmbulance + 1]float64) {
	for level := range mass {
		mass[level] = s.probabilityOfAny(func(c *model.Condition) bool { return c.Triage >= model.TriageLevel(level) })
	}
	return mass
}

// probabilityOfAny returns the probability that at least one of the conditions that
// cause a reported finding and match the predicate is present. Other conditions are as
// likely as in the general population.
func (s *scratch) probabilityOfAny(matches func(*model.Condition) bool) float64 {
	absent := 1.0
	for _, c := range s.suspected {
		if matches(&s.r.Conditions[c]) {
			absent *= 1 - s.posterior[c]
		}
	}
	return 1 - absent
}

// seriousObservations returns the present observations that are serious alone or
// together with others.
func (s *scratch) seriousObservations() []SeriousObservation {
	list, byTuple := []SeriousObservation{}, s.tupleSeriousness()
	for _, o := range s.p.present {
		if v := max(s.r.Observations[o].Seriousness, byTuple[o]); v != model.NotSerious {
			list = append(list, SeriousObservation{o, v})
		}
	}
	slices.SortStableFunc(list, func(a, b SeriousObservation) int { return cmp.Compare(b.Seriousness, a.Seriousness) })
	return list
}

// tupleSeriousness returns the seriousness of the observations in each complete tuple
// whose level is higher than the level of each of its observations alone.
func (s *scratch) tupleSeriousness() map[model.ObservationIndex]model.Seriousness {
	seriousness := map[model.ObservationIndex]model.Seriousness{}
	for i := range s.r.Tuples {
		t := &s.r.Tuples[i]
		items, v := model.Slice(s.r.TupleItems, t.Observations), levelSeriousness(tupleLevel(t))
		if _, missing := s.missingItem(t); missing > 0 ||
			slices.ContainsFunc(items, func(o model.ObservationIndex) bool { return s.r.Observations[o].Seriousness >= v }) {
			continue
		}
		for _, o := range items {
			seriousness[o] = max(seriousness[o], v)
		}
	}
	return seriousness
}

// levelSeriousness returns the seriousness that requires a level, the inverse of
// seriousnessLevel: NotSerious for a level that no observation requires alone.
func levelSeriousness(level model.TriageLevel) model.Seriousness {
	return model.Seriousness(max(0, slices.Index(standaloneLevels[:], level)))
}

// FoldToThreeLevels folds the five levels into the three-level scale.
func FoldToThreeLevels(level model.TriageLevel) model.TriageLevel {
	switch level {
	case model.Consultation24:
		return model.Consultation
	case model.EmergencyAmbulance:
		return model.Emergency
	default:
		return level
	}
}
