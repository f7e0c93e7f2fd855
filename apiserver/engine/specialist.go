// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A Recommendation is whom the patient should see, and by which channel.
type Recommendation struct {
	Specialist uint32 // position in Release.Specialists
	Channel    model.Channel
}

// The numbers that the specification gives to the specialists of whom the
// patient's age decides.
const (
	generalPractitioner = 1
	internist           = 2
	pediatrician        = 3
	neonatologist       = 26
)

// adulthood is the age in months from which patients are no longer seen by a
// pediatrician.
const adulthood = 18 * 12

// For whom the specialist of the other age stands, by number. Conditions list
// a pediatrician where children have them most; the patient's age decides for
// all of them, so that a child with a sore throat and an adult with measles
// both end up in the right waiting room. The organ specialists see all ages.
var (
	ofChildren = map[uint32]uint32{generalPractitioner: pediatrician, internist: pediatrician}
	ofAdults   = map[uint32]uint32{pediatrician: generalPractitioner, neonatologist: generalPractitioner}
)

// channelLikely is the probability of conditions that ask for a channel, or a
// more cautious one, from which the patient is sent there. It is that from
// which a condition that needs a doctor brings the patient to one: for both
// the question is whose needs count.
const channelLikely = consultationLikely

// Recommend says whom the patient should see, and by which channel. It reports
// false when the triage level is emergency or above, where nobody is chosen.
//
// Each condition that brings something the patient reports votes with its
// probability for the specialists that it lists: for the first with all of it,
// for the second with half, for the third with a third, and so on. That none
// of them is there votes for the general practitioner. Of equals the one with
// the smallest number is chosen.
//
// The mapping sends specialists to others, both given by number; those that it
// does not name stay. It is applied before the vote, so that specialists who
// are sent to the same one win together. What it sends to a number that the
// release does not have stays too.
//
// The channel is the most cautious that either the conditions or the triage
// level asks for.
func (e *Engine) Recommend(r *model.Release, p Patient, o Options, mapping map[uint32]uint32) (Recommendation, bool) {
	s := e.acquire(r, p.under(o))
	defer e.release(s)
	s.infer()
	return s.recommend(mapping)
}

func (s *scratch) recommend(mapping map[uint32]uint32) (Recommendation, bool) {
	level, cause := s.triage()
	if level >= model.Emergency || len(s.r.Specialists) == 0 {
		return Recommendation{}, false
	}
	return Recommendation{s.specialist(s.substitutes(mapping)), s.channel(cause)}, true
}

// substitutes are the specialists who stand in for each, by position: those of
// the patient's age, and for these those of the mapping.
func (s *scratch) substitutes(mapping map[uint32]uint32) []uint32 {
	byAge := ofAdults
	if s.p.ageMonths < adulthood {
		byAge = ofChildren
	}
	list := make([]uint32, len(s.r.Specialists))
	for i := range list {
		list[i] = s.substitute(s.substitute(uint32(i), byAge), mapping)
	}
	return list
}

// substitute is the specialist to whom a mapping sends another.
func (s *scratch) substitute(specialist uint32, mapping map[uint32]uint32) uint32 {
	if number, ok := mapping[s.r.Specialists[specialist].Number]; ok {
		if i, ok := s.findSpecialist(number); ok {
			return i
		}
	}
	return specialist
}

func (s *scratch) findSpecialist(number uint32) (uint32, bool) {
	i, ok := slices.BinarySearchFunc(s.r.Specialists, number, func(n model.Named, number uint32) int { return cmp.Compare(n.Number, number) })
	return uint32(i), ok
}

// specialist is the one with the most votes.
func (s *scratch) specialist(substitutes []uint32) uint32 {
	votes := make([]float64, len(substitutes))
	if general, ok := s.findSpecialist(generalPractitioner); ok {
		votes[substitutes[general]] = s.none
	}
	var listed []uint32
	for _, c := range s.suspected {
		listed = listed[:0]
		for _, specialist := range model.Part(s.r.SpecialistRefs, s.r.Conditions[c].Specialists) {
			if specialist = substitutes[specialist]; !slices.Contains(listed, specialist) {
				listed = append(listed, specialist)
				votes[specialist] += s.posterior[c] / float64(len(listed))
			}
		}
	}
	return uint32(slices.Index(votes, slices.Max(votes)))
}

// channel is the most cautious channel that is asked for. Channels are in
// order of caution, the personal visit first.
func (s *scratch) channel(cause RootCause) model.Channel {
	switch cause {
	case SeriousEvidencePresent, EmergencyConditionPossible, DiagnosisUnknown:
		// What must be ruled out, or is not explained, is looked at.
		return model.PersonalVisit
	}
	for channel := model.PersonalVisit; channel < model.TextTeleconsultation; channel++ {
		if s.likely(func(c *model.Condition) bool { return c.Channel <= channel }) >= channelLikely {
			return channel
		}
	}
	return model.TextTeleconsultation
}
