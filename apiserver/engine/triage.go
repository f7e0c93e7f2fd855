// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// The condition part of a triage level rests on the probability that some
// condition of a level or above is there. To send home a patient who has an
// emergency is the worst mistake, a doctor too many the mildest, so that the
// thresholds fall as the levels rise. They were set on patients drawn from the
// content: with these, of ten emergencies nine are sent to an emergency
// department, and of a hundred harmless cases one is.
const (
	// ambulanceLikely and emergencyLikely are the probabilities from which an
	// emergency is a leading explanation: one patient in four has it.
	ambulanceLikely = 0.25
	emergencyLikely = 0.25
	// emergencyPossible is the probability, one in twenty, from which an
	// emergency department must rule an emergency out.
	emergencyPossible = 0.05
	// emergencyDoubt is the probability from which a doctor must rule an
	// emergency out within a day: one in fifty. Emergency physicians discharge
	// patients with chest pain at one in a hundred (Than et al. 2013), but of one
	// emergency that they looked for; this is the sum over the 220 of the
	// catalogue, of which most patients keep a trace of many.
	emergencyDoubt = 0.02
	// promptLikely is the probability, one in eight, of a condition of
	// consultation_24 or above from which the patient is seen within a day.
	promptLikely = 0.12
	// consultationLikely is the probability of a condition that needs a doctor
	// from which the patient sees one.
	consultationLikely = 0.15
	// selfCareLikely is the probability of a harmless condition from which
	// self care suffices, when nothing above speaks against it. Below it the
	// complaint is not explained, and unexplained complaints see a doctor.
	selfCareLikely = 0.4
)

// RootCause says what a triage level rests on.
type RootCause uint8

// The root causes.
const (
	DiagnosisUnknown RootCause = iota
	SelfCareSufficient
	ConsultationConditionLikely
	EmergencyConditionPossible
	EmergencyConditionLikely
	SeriousEvidencePresent
	EmergencyEvidencePresent
)

var rootCauseWords = [...]string{
	"diagnosis_unknown", "self_care_sufficient", "consultation_condition_likely",
	"emergency_condition_possible", "emergency_condition_likely",
	"serious_evidence_present", "emergency_evidence_present",
}

// String is the word of the specification, such as self_care_sufficient.
func (c RootCause) String() string { return rootCauseWords[c] }

// A SeriousObservation is a present observation that is serious, by itself or
// together with others: the seriousness is the highest of what it asks for
// alone and of what the tuples ask for that it is part of.
type SeriousObservation struct {
	Observation model.ObservationIndex
	Seriousness model.Seriousness
}

// A Triage is how urgent the patient's case is, and why.
type Triage struct {
	Level     model.TriageLevel
	RootCause RootCause
	// Serious are the present observations that are serious by themselves or
	// together with others, the most serious first.
	Serious []SeriousObservation
	// TeleconsultationApplicable says that the patient can be heard from afar
	// first, as whoever need not be seen at once. It is meant for clients of
	// the five levels.
	TeleconsultationApplicable bool
}

// Triage classifies how urgent the patient's case is. The level is the higher
// of two: what the reported observations ask for by themselves, which never
// falls when a present one is added, and what the likely conditions ask for.
// The latter may fall when another condition explains the findings better; but
// where a red flag does that, an observation that is serious by itself or
// completes a tuple, the level is never below consultation_24.
func (e *Engine) Triage(r *model.Release, p Patient, o Options) Triage {
	s := e.acquire(r, p.under(o))
	defer e.release(s)
	return s.classify(o)
}

// HasEmergencyEvidence reports what Assess says under this name. It need not rank.
func (e *Engine) HasEmergencyEvidence(r *model.Release, p Patient) bool {
	s := e.acquire(r, &p)
	defer e.release(s)
	return s.hasEmergencyEvidence()
}

func (s *scratch) hasEmergencyEvidence() bool { return s.byEvidence >= model.Emergency }

// classify ranks unless the evidence asks for an ambulance: no condition asks
// for more.
func (s *scratch) classify(o Options) Triage {
	if s.byEvidence == model.EmergencyAmbulance {
		return s.classified(s.byEvidence, EmergencyEvidencePresent, o)
	}
	s.infer()
	level, cause := s.triage()
	return s.classified(level, cause, o)
}

// classified is a triage of this level, before it is shown.
func (s *scratch) classified(level model.TriageLevel, cause RootCause, o Options) Triage {
	return Triage{Level: o.shown(level), RootCause: cause, Serious: s.serious(), TeleconsultationApplicable: level < model.Emergency}
}

// triage is the level and what it rests on.
func (s *scratch) triage() (model.TriageLevel, RootCause) {
	level, cause := s.conditionLevel()
	switch {
	case s.byEvidence < level || s.byEvidence == model.NoTriageLevel:
		return level, cause
	case s.byEvidence >= model.Emergency:
		return s.byEvidence, EmergencyEvidencePresent
	default:
		return s.byEvidence, SeriousEvidencePresent
	}
}

// readEvidence finds what present observations and tuples of them ask for, and
// what tuples ask for that lack one observation.
func (s *scratch) readEvidence() {
	s.byEvidence = model.NoTriageLevel
	for _, o := range s.p.present {
		s.byEvidence = max(s.byEvidence, seriousnessLevel(s.r.Observations[o].Seriousness))
	}
	s.completes = cleared(s.completes, len(s.r.Observations))
	for i := range s.r.Tuples {
		t := &s.r.Tuples[i]
		switch missing, count := s.missing(t); count {
		case 0:
			s.byEvidence = max(s.byEvidence, tupleLevel(t))
		case 1:
			s.completes[missing] = max(s.completes[missing], tupleLevel(t))
		}
	}
}

// tupleLevel is what a tuple asks for: at least what a serious observation
// does. What completes a tuple is a red flag, and a red flag may explain an
// emergency away that was suspected before. The patient is then still seen
// within a day, for which a tuple of a lower level would not care.
func tupleLevel(t *model.Tuple) model.TriageLevel { return max(t.Level, model.Consultation24) }

// missing is an observation of a tuple that is not present, and how many there
// are, as far as two.
func (s *scratch) missing(t *model.Tuple) (missing model.ObservationIndex, count int) {
	for _, o := range model.Part(s.r.TupleItems, t.Observations) {
		if s.known[o] == knownPresent {
			continue
		}
		if count++; count == 2 {
			break
		}
		missing = o
	}
	return missing, count
}

// seriousnessLevel is the level that a present observation asks for by itself.
func seriousnessLevel(v model.Seriousness) model.TriageLevel {
	switch v {
	case model.Serious:
		return model.Consultation24
	case model.SeriousnessEmergency:
		return model.Emergency
	case model.SeriousnessEmergencyAmbulance:
		return model.EmergencyAmbulance
	default:
		return model.NoTriageLevel
	}
}

// conditionLevel is what the conditions that may be there ask for.
func (s *scratch) conditionLevel() (model.TriageLevel, RootCause) { return levelOf(s.urgency()) }

// levelOf is what conditions ask for when this is how likely, for each level,
// one of that level or above is there.
func levelOf(mass byLevel) (model.TriageLevel, RootCause) {
	switch {
	case mass[model.EmergencyAmbulance] >= ambulanceLikely:
		return model.EmergencyAmbulance, EmergencyConditionLikely
	case mass[model.Emergency] >= emergencyLikely:
		return model.Emergency, EmergencyConditionLikely
	case mass[model.Emergency] >= emergencyPossible:
		return model.Emergency, EmergencyConditionPossible
	case mass[model.Emergency] >= emergencyDoubt:
		return model.Consultation24, EmergencyConditionPossible
	case mass[model.Consultation24] >= promptLikely:
		return model.Consultation24, ConsultationConditionLikely
	case mass[model.Consultation] >= consultationLikely:
		return model.Consultation, ConsultationConditionLikely
	case mass[model.SelfCare] >= selfCareLikely:
		return model.SelfCare, SelfCareSufficient
	default:
		return model.Consultation, DiagnosisUnknown
	}
}

// urgency is, for each level, the probability that a condition of that level
// or above is there.
func (s *scratch) urgency() (mass [model.EmergencyAmbulance + 1]float64) {
	for level := range mass {
		mass[level] = s.likely(func(c *model.Condition) bool { return c.Triage >= model.TriageLevel(level) })
	}
	return mass
}

// likely is the probability that one of some conditions is there which bring
// something that the patient reports. The rest are as likely as in anybody.
func (s *scratch) likely(some func(*model.Condition) bool) float64 {
	spared := 1.0
	for _, c := range s.suspected {
		if some(&s.r.Conditions[c]) {
			spared *= 1 - s.posterior[c]
		}
	}
	return 1 - spared
}

// serious lists the present observations that are serious by themselves or
// together with others.
func (s *scratch) serious() []SeriousObservation {
	list, together := []SeriousObservation{}, s.seriousTogether()
	for _, o := range s.p.present {
		if v := max(s.r.Observations[o].Seriousness, together[o]); v != model.NotSerious {
			list = append(list, SeriousObservation{o, v})
		}
	}
	slices.SortStableFunc(list, func(a, b SeriousObservation) int { return cmp.Compare(b.Seriousness, a.Seriousness) })
	return list
}

// seriousTogether is how serious observations are as part of a tuple that is
// present and asks for more than each of its observations does alone.
func (s *scratch) seriousTogether() map[model.ObservationIndex]model.Seriousness {
	together := map[model.ObservationIndex]model.Seriousness{}
	for i := range s.r.Tuples {
		t := &s.r.Tuples[i]
		items, v := model.Part(s.r.TupleItems, t.Observations), seriousnessOf(tupleLevel(t))
		if _, missing := s.missing(t); missing > 0 ||
			slices.ContainsFunc(items, func(o model.ObservationIndex) bool { return s.r.Observations[o].Seriousness >= v }) {
			continue
		}
		for _, o := range items {
			together[o] = max(together[o], v)
		}
	}
	return together
}

// seriousnessOf is the seriousness that asks for a level, the inverse of
// seriousnessLevel.
func seriousnessOf(level model.TriageLevel) model.Seriousness {
	switch level {
	case model.EmergencyAmbulance:
		return model.SeriousnessEmergencyAmbulance
	case model.Emergency:
		return model.SeriousnessEmergency
	case model.Consultation24:
		return model.Serious
	default:
		return model.NotSerious
	}
}

// InThreeLevels folds the five levels into the three of clients that ask for them.
func InThreeLevels(level model.TriageLevel) model.TriageLevel {
	switch level {
	case model.Consultation24:
		return model.Consultation
	case model.EmergencyAmbulance:
		return model.Emergency
	default:
		return level
	}
}
