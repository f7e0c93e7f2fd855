// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A Recommendation is whom to see and how.
type Recommendation struct {
	Specialist uint32 // position in Specialists
	Channel    model.Channel
}

// Numbers of specialists that the specification fixes.
const (
	generalPractitioner = 1
	internist           = 2
	pediatrician        = 3
	neonatologist       = 26
)

// adulthood is the age in months from which nobody sees a pediatrician.
const adulthood = 18 * 12

// Recommend says whom the patient should see and how. It reports false when
// the triage level is an emergency or above: then nobody is chosen.
//
// The mapping replaces specialists by others, both given by number; those that
// it does not name stay, and so do those that it sends to a number which the
// release does not have.
func (e *Engine) Recommend(r *model.Release, p Patient, _ Options, mapping map[uint32]uint32) (Recommendation, bool) {
	s := e.acquire(r, &p)
	defer e.release(s)
	s.infer()
	level, cause := s.triage()
	if level >= model.Emergency {
		return Recommendation{}, false
	}
	return Recommendation{s.specialist(mapping), s.channel(cause)}, true
}

// specialist is the one with the greatest weight.
func (s *scratch) specialist(mapping map[uint32]uint32) uint32 {
	weights := make([]float64, len(s.r.Specialists))
	weights[s.mapped(s.position(generalPractitioner), mapping)] += s.none
	for _, c := range s.suspected {
		var seen []uint32
		for _, specialist := range model.Part(s.r.SpecialistRefs, s.r.Conditions[c].Specialists) {
			specialist = s.mapped(specialist, mapping)
			if !slices.Contains(seen, specialist) {
				seen = append(seen, specialist)
				weights[specialist] += s.posterior[c] / float64(len(seen))
			}
		}
	}
	best := 0
	for i, weight := range weights {
		if weight > weights[best] {
			best = i
		}
	}
	return uint32(best)
}

// mapped is the specialist in whose place another stands, for the patient's
// age and then for the client.
func (s *scratch) mapped(specialist uint32, mapping map[uint32]uint32) uint32 {
	number := s.r.Specialists[specialist].Number
	switch child := s.p.ageMonths < adulthood; {
	case child && (number == generalPractitioner || number == internist):
		specialist = s.position(pediatrician)
	case !child && (number == pediatrician || number == neonatologist):
		specialist = s.position(generalPractitioner)
	}
	if to, ok := mapping[s.r.Specialists[specialist].Number]; ok {
		return s.position(to)
	}
	return specialist
}

// position is where a specialist stands, or the first where there is none of
// that number.
func (s *scratch) position(number uint32) uint32 {
	i, ok := slices.BinarySearchFunc(s.r.Specialists, number, func(n model.Named, number uint32) int { return cmp.Compare(n.Number, number) })
	if !ok {
		return 0
	}
	return uint32(i)
}

// channelLikely is the probability of a condition that asks for a channel, or
// a more cautious one, from which that channel is recommended.
const channelLikely = 0.15

// channel is the most cautious one that the likely conditions ask for.
func (s *scratch) channel(cause RootCause) model.Channel {
	switch cause {
	case SeriousEvidencePresent, EmergencyConditionPossible, DiagnosisUnknown:
		return model.PersonalVisit
	}
	for channel := model.PersonalVisit; channel < model.TextTeleconsultation; channel++ {
		spared := 1.0
		for _, c := range s.suspected {
			if s.r.Conditions[c].Channel <= channel {
				spared *= 1 - s.posterior[c]
			}
		}
		if 1-spared >= channelLikely {
			return channel
		}
	}
	return model.TextTeleconsultation
}
