// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// suggestRedFlags suggests the symptoms that would raise what the evidence asks
// for, by their seriousness or as the last of a tuple, and that have to do with
// a condition which the evidence makes possible. Those come first that are
// likeliest to show an emergency, and then those that are likeliest to be there.
// A risk factor that completes a tuple, such as a pregnancy, is no alarm to
// show to a patient: the interview asks for it.
func (s *scratch) suggestRedFlags() {
	s.findSuspects(s.suspected, suspectFloor)
	s.collectVotes()
	from, to := s.r.ObservationsOfKind(model.Symptom)
	for o := from; o < to; o++ {
		if s.voted[o] && s.raisesLevel(o) && s.reportable(o) {
			danger, chance := s.alarm(o)
			s.suggest(o, 0, danger, chance)
		}
	}
}

// alarm is how likely the observation is there together with an emergency that
// brings it and would bring the patient for what they report, and together with
// any suspect that does. What is an emergency by itself, and so likely that no
// interview ends without it, needs no other. Below a present parent it is all
// that given the parent.
func (s *scratch) alarm(o model.ObservationIndex) (danger, chance float64) {
	if parent := s.r.Observations[o].Parent; parent != model.None && s.known[parent] == knownPresent {
		s.answers(o)
	} else {
		s.answer = sized(s.answer, len(s.chances))
		s.shares(o, s.answer)
	}
	for i, suspect := range s.suspects {
		if !joined(s.r, o, model.ConditionIndex(suspect.condition)) {
			continue
		}
		chance += suspect.p * s.answer[i]
		if suspect.dangerous {
			typical := s.typical(suspect.condition)
			danger += suspect.p * s.answer[i] * typical * typical
		}
	}
	if s.isEmergency(o) && chance >= emergencyLeft {
		danger = max(danger, chance)
	}
	return danger, chance
}

// typical is how often patients with a condition report what this one does,
// beside what they report most often: the mean over the findings. People come
// for the main symptom of what they have, which the ranking does not know: one
// in three with an abscess of the tonsil has a headache, but nobody comes for
// that.
func (s *scratch) typical(condition int32) float64 {
	links := model.Part(s.r.LinksByCondition, s.r.Conditions[condition].Links)
	most, sum, findings := 0.0, 0.0, 0
	for _, link := range links {
		most = max(most, link.Share)
	}
	for i := range s.p.findings {
		f := &s.p.findings[i]
		if f.choice != Present || f.refined || s.r.Observations[f.observation].Kind == model.RiskFactor {
			continue
		}
		findings++
		if at, ok := slices.BinarySearchFunc(links, int32(f.observation), byOther); ok {
			sum += links[at].Share / most
		}
	}
	return share(sum, float64(findings))
}

// reportable reports whether a patient could report an observation: it is open,
// and nothing speaks against its parents. They need not be known, as reporting
// a child reports them too.
func (s *scratch) reportable(o model.ObservationIndex) bool {
	if !s.open(o) {
		return false
	}
	for parent := s.r.Observations[o].Parent; parent != model.None; parent = s.r.Observations[parent].Parent {
		if s.known[parent] == knownOtherwise {
			return false
		}
	}
	return true
}
