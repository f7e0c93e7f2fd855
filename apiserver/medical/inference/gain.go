// SPDX-License-Identifier: Apache-2.0

package inference

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

// The value of a question is the expected information in its answer about the
// condition: the mutual information of the two, under the approximation that one
// suspect, or none, is behind the complaint. It is h(q) - sum p h(s), where p is the
// probability of each suspect, s the share of its patients who would say yes, q = sum p
// s, and h the binary entropy. For a patient with none of the suspects, and for a
// suspect without a link, s is the leak. Below a present parent, s is the child's share
// divided by its parent's share.

const (
	// suspectFloor is the minimum probability for a condition to count as a suspect when
	// choosing a question. dangerousFloor is the minimum for emergencies, and for lists of
	// suggestions.
	suspectFloor   = 0.005
	dangerousFloor = 0.0002
	// maxNoneProbability is the maximum weight of "none of the suspects": no question can
	// find a condition that the catalog does not contain.
	maxNoneProbability = 0.5
)

// A suspect is a condition that is considered when choosing the question.
type suspect struct {
	condition int32
	dangerous bool // is an emergency
	level     model.TriageLevel
	p         float64 // probability that it is behind the complaint
}

// A tally holds sums over the suspects that have a link or a factor for an observation:
// the sums of p, p s, p s squared and p h(s), and the sum of p s over dangerous
// suspects only.
type tally struct {
	p, share, square, entropy, danger float64
}

func (t *tally) add(suspect *suspect, share, entropy float64) {
	weighted := suspect.p * share
	t.p += suspect.p
	t.share += weighted
	t.square += weighted * share
	t.entropy += suspect.p * entropy
	if suspect.dangerous {
		t.danger += weighted
	}
}

// findSuspects selects the suspects among the given conditions and normalizes their
// probabilities, so that they and the probability that none is present add up to one.
// It ignores non-emergencies below the floor.
func (s *scratch) findSuspects(conditions []int32, floor float64) {
	s.suspects, s.suspectProbabilities, s.sharesParent = s.suspects[:0], s.suspectProbabilities[:0], model.None
	rest := 1.0
	total := 0.0
	for _, c := range conditions {
		total += s.posterior[c]
	}
	for _, c := range conditions {
		p := (1 - min(s.noneProbability, maxNoneProbability)) * clampedRatio(s.posterior[c], total)
		level := s.r.Conditions[c].Triage
		if dangerous := level >= model.Emergency; p >= floor || dangerous && p >= dangerousFloor {
			s.suspects = append(s.suspects, suspect{c, dangerous, level, p})
			s.suspectIndex[c] = int32(len(s.suspects))
			s.suspectProbabilities = append(s.suspectProbabilities, p)
			rest -= p
		}
	}
	s.suspectProbabilities = append(s.suspectProbabilities, max(rest, 0))
}

// possibleCauses returns the conditions that may be behind the complaint: the suspected
// conditions or, if no condition causes the reported findings, all conditions that the
// patient may have. The interview about a complaint that the catalog does not explain
// is like any other.
func (s *scratch) possibleCauses() []int32 {
	if len(s.suspected) > 0 {
		return s.suspected
	}
	s.possibleConditions = s.possibleConditions[:0]
	for c, p := range s.posterior {
		if p > 0 {
			s.possibleConditions = append(s.possibleConditions, int32(c))
		}
	}
	return s.possibleConditions
}

// tallySuspects tallies the suspects for all observations that they cause, and for all
// risk factors and findings with a factor, which change their probability. It clears
// all tallies first, which is faster than checking at each link whether it is the first
// for its observation.
func (s *scratch) tallySuspects() {
	tallies, hasTally := resizedZero(s.tallies, len(s.r.Observations)), resizedZero(s.hasTally, len(s.r.Observations))
	for i := range s.suspects {
		suspect := &s.suspects[i]
		links := model.Slice(s.r.LinksByCondition, s.r.Conditions[suspect.condition].Links)
		for k := range links {
			link := &links[k]
			hasTally[link.Other] = true
			tallies[link.Other].add(suspect, link.Probability, link.Entropy)
		}
	}
	from, to := s.r.ObservationsOfKind(model.RiskFactor)
	for i := range s.suspects {
		suspect := &s.suspects[i]
		factors := model.Slice(s.r.ConditionFactors, s.r.Conditions[suspect.condition].Factors)
		for k := range factors {
			c := &factors[k]
			if o := c.Observation; hasTally[o] || from <= o && o < to {
				hasTally[o] = true
				tallies[o].add(suspect, c.Probability, c.Entropy)
			}
		}
	}
	s.tallies, s.hasTally = tallies, hasTally
}

// gain returns the information gain of an observation without a parent.
func (t *tally) gain(leak float64) float64 {
	rest := max(1-t.p, 0)
	return model.BinaryEntropy(t.share+rest*leak) - t.entropy - rest*model.BinaryEntropy(leak)
}

// gainBound returns an upper bound of gain without computing logarithms.
func (t *tally) gainBound(leak float64) float64 {
	rest := max(1-t.p, 0)
	return chiSquaredBound(1, t.share+rest*leak, t.square+rest*leak*leak)
}

// chiSquaredBound returns an upper bound of the mutual information of an answer and
// the suspects, their chi-squared divergence: the variance of the suspects' shares
// divided by the variance of the answer. all, first and second are the sums of the
// probabilities times the share to the power of zero, one and two.
func chiSquaredBound(all, first, second float64) float64 {
	q := clampedRatio(first, all)
	if q == 0 || q == 1 {
		return 0
	}
	return max(second-first*q, 0) / (q * (1 - q))
}

// gainBound returns an upper bound of mutualInformation without computing logarithms.
func gainBound(chances, answers []float64) float64 {
	all, first, second := 0.0, 0.0, 0.0
	for i, a := range answers {
		all += chances[i]
		first += chances[i] * a
		second += chances[i] * a * a
	}
	return chiSquaredBound(all, first, second)
}

// fillAnswers sets answerProbabilities: the probability for each suspect, and in the
// last entry for the absence of all suspects, that the observation is present, given
// its parent if it has one.
func (s *scratch) fillAnswers(o model.ObservationIndex) {
	s.answerProbabilities = resized(s.answerProbabilities, len(s.suspectProbabilities))
	s.fillShares(o, s.answerProbabilities)
	parent := s.r.Observations[o].Parent
	if parent == model.None {
		return
	}
	if s.sharesParent != parent { // siblings are mostly consecutive
		s.parentShares = resized(s.parentShares, len(s.answerProbabilities))
		s.fillShares(parent, s.parentShares)
		s.sharesParent = parent
	}
	for i, a := range s.answerProbabilities {
		s.answerProbabilities[i] = clampedRatio(a, s.parentShares[i])
	}
}

// fillShares sets the share of patients who report an observation, for each suspect and
// in the last entry for the absence of all suspects.
func (s *scratch) fillShares(o model.ObservationIndex, shares []float64) {
	observation := &s.r.Observations[o]
	for i := range shares {
		shares[i] = observation.Leak
	}
	links := model.Slice(s.r.LinksByObservation, observation.Links)
	for k := range links {
		if i := s.suspectIndex[links[k].Other]; i > 0 {
			shares[i-1] = links[k].Probability
		}
	}
	for _, f := range model.Slice(s.r.Factors, observation.Factors) {
		if i := s.suspectIndex[f.Condition]; i > 0 {
			shares[i-1] = model.FactorProbability(observation.Leak, f.Present, f.Absent)
		}
	}
}

// mutualInformation returns the mutual information, in nats, of a yes-or-no answer and
// the suspects, which have the given probabilities. If these add up to less than one,
// the result is multiplied by their sum, the probability that the question is reached.
func mutualInformation(probabilities, answers []float64) float64 {
	all, q, rest := 0.0, 0.0, 0.0
	last, entropy := -1.0, 0.0 // most suspects share the leak
	for i, a := range answers {
		if a != last {
			last, entropy = a, model.BinaryEntropy(a)
		}
		all += probabilities[i]
		q += probabilities[i] * a
		rest += probabilities[i] * entropy
	}
	return all*model.BinaryEntropy(clampedRatio(q, all)) - rest
}

// levelGain returns the mutual information, in nats, of a yes-or-no answer and the
// triage level of the condition behind the complaint. The absence of all suspects
// counts as a consultation.
func (s *scratch) levelGain(answers []float64) float64 {
	var p, yes [model.EmergencyAmbulance + 1]float64
	q := 0.0
	for i, a := range answers {
		level := model.Consultation
		if i < len(s.suspects) {
			level = s.suspects[i].level
		}
		p[level] += s.suspectProbabilities[i]
		yes[level] += s.suspectProbabilities[i] * a
		q += s.suspectProbabilities[i] * a
	}
	gain := model.BinaryEntropy(q)
	for level := range p {
		gain -= p[level] * model.BinaryEntropy(clampedRatio(yes[level], p[level]))
	}
	return gain
}
