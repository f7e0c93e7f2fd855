// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"cmp"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A Recommendation is the specialist that the patient should see, and the channel.
type Recommendation struct {
	Specialist uint32 // position in Release.Specialists
	Channel    model.Channel
}

// Numbers of the specialists whose choice depends on the patient's age, as defined by
// the specification.
const (
	generalPractitioner = 1
	internist           = 2
	pediatrician        = 3
	neonatologist       = 26
)

// adultAgeMonths is the age in months at which patients stop seeing a pediatrician.
const adultAgeMonths = 18 * 12

// Specialists who substitute for each other depending on the patient's age, by number.
// Conditions list a pediatrician if they are most common in children; the patient's
// age overrides this for all conditions, so that a child with a sore throat and an
// adult with measles both end up in the right waiting room. Organ specialists see all
// ages.
var (
	pediatricSubstitutes = map[uint32]uint32{generalPractitioner: pediatrician, internist: pediatrician}
	adultSubstitutes     = map[uint32]uint32{pediatrician: generalPractitioner, neonatologist: generalPractitioner}
)

// channelThreshold is the minimum total probability of conditions that require a
// channel, or a more cautious one, for the channel to be recommended. It equals the
// threshold for a consultation, because both determine which conditions are likely
// enough to count.
const channelThreshold = consultationThreshold

// Recommend returns the specialist that the patient should see, and the channel. It
// returns false if the triage level is emergency or above.
//
// Each condition that causes a reported finding votes with its probability for the
// specialists that it lists: with its full probability for the first, half for the
// second, a third for the third, and so on. The probability that none of these
// conditions is present is a vote for the general practitioner. Ties go to the
// smallest number.
//
// The mapping replaces specialists with others, both given by number; specialists that
// are not in the mapping are kept. It applies before the vote, so that specialists with
// the same replacement share their votes. A replacement that the release does not
// contain is ignored.
//
// The channel is the more cautious of the channels that the conditions and the triage
// level require.
func (e *Engine) Recommend(r *model.Release, p Patient, o Options, mapping map[uint32]uint32) (Recommendation, bool) {
	s := e.getScratch(r, p.forOptions(o))
	defer e.putScratch(s)
	s.infer()
	return s.recommend(mapping)
}

func (s *scratch) recommend(mapping map[uint32]uint32) (Recommendation, bool) {
	level, cause := s.triageLevel()
	if level >= model.Emergency || len(s.r.Specialists) == 0 {
		return Recommendation{}, false
	}
	return Recommendation{s.chooseSpecialist(s.substitutes(mapping)), s.chooseChannel(cause)}, true
}

// substitutes returns the substitute for each specialist, by position: first by the
// patient's age, and then by the mapping.
func (s *scratch) substitutes(mapping map[uint32]uint32) []uint32 {
	byAge := adultSubstitutes
	if s.p.ageMonths < adultAgeMonths {
		byAge = pediatricSubstitutes
	}
	list := make([]uint32, len(s.r.Specialists))
	for i := range list {
		list[i] = s.substitute(s.substitute(uint32(i), byAge), mapping)
	}
	return list
}

// substitute returns the substitute for a specialist according to the mapping, or the
// specialist itself.
func (s *scratch) substitute(specialist uint32, mapping map[uint32]uint32) uint32 {
	if number, ok := mapping[s.r.Specialists[specialist].Number]; ok {
		if i, ok := s.findSpecialist(number); ok {
			return i
		}
	}
	return specialist
}

func (s *scratch) findSpecialist(number uint32) (uint32, bool) {
	i, ok := slices.BinarySearchFunc(s.r.Specialists, number, func(n model.NamedItem, number uint32) int { return cmp.Compare(n.Number, number) })
	return uint32(i), ok
}

// chooseSpecialist returns the specialist with the most votes.
func (s *scratch) chooseSpecialist(substitutes []uint32) uint32 {
	votes := make([]float64, len(substitutes))
	if general, ok := s.findSpecialist(generalPractitioner); ok {
		votes[substitutes[general]] = s.noneProbability
	}
	var listed []uint32
	for _, c := range s.suspected {
		listed = listed[:0]
		for _, specialist := range model.Slice(s.r.SpecialistRefs, s.r.Conditions[c].Specialists) {
			if specialist = substitutes[specialist]; !slices.Contains(listed, specialist) {
				listed = append(listed, specialist)
				votes[specialist] += s.posterior[c] / float64(len(listed))
			}
		}
	}
	return uint32(slices.Index(votes, slices.Max(votes)))
}

// chooseChannel returns the most cautious channel that is required. Channels are in
// order of caution, with the personal visit first.
func (s *scratch) chooseChannel(cause RootCause) model.Channel {
	switch cause {
	case SeriousEvidencePresent, EmergencyConditionPossible, DiagnosisUnknown:
		// A condition that must be ruled out, or an unexplained complaint, requires an
		// examination.
		return model.PersonalVisit
	}
	for channel := model.PersonalVisit; channel < model.TextTeleconsultation; channel++ {
		if s.probabilityOfAny(func(c *model.Condition) bool { return c.Channel <= channel }) >= channelThreshold {
			return channel
		}
	}
	return model.TextTeleconsultation
}
