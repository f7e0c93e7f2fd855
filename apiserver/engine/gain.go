// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

// What a question is worth is how much its answer is expected to tell about
// the condition: the mutual information of the two, under the approximation
// that one suspect, or none of them, is behind the complaint. With p the
// probability of each suspect and s the share of its patients who would say
// yes, it is h(q) - sum p h(s), where q = sum p s and h is the binary entropy.
// For somebody with none of the suspects, and for a suspect without a link, s
// is the leak. Below a present parent, s is the child's share divided by its
// parent's.

const (
	// suspectFloor is the probability from which a condition has a say in the
	// choice of the question, dangerousFloor the same for emergencies and where a
	// list is made for the patient to look through.
	suspectFloor   = 0.005
	dangerousFloor = 0.0002
	// mostDoubt is the most that "none of them" may count for: what the
	// catalogue does not hold, no question finds.
	mostDoubt = 0.5
)

// A suspect is a condition with a say in the choice of the question.
type suspect struct {
	condition int32
	dangerous bool // it is an emergency
	level     model.TriageLevel
	p         float64 // that it is behind the complaint
}

// A vote is what the suspects say together about an observation: the sums,
// over those with a link or a factor, of p, p s, p s squared and p h(s), and of
// p s over the dangerous ones.
type vote struct {
	p, share, square, entropy, danger float64
}

func (v *vote) add(suspect *suspect, share, entropy float64) {
	voice := suspect.p * share
	v.p += suspect.p
	v.share += voice
	v.square += voice * share
	v.entropy += suspect.p * entropy
	if suspect.dangerous {
		v.danger += voice
	}
}

// findSuspects weighs the suspects among some conditions against each other and
// against none of them, which keeps what is left of one. Those that are no
// emergency are left out below a floor.
func (s *scratch) findSuspects(among []int32, floor float64) {
	s.suspects, s.chances, s.sharesOf = s.suspects[:0], s.chances[:0], model.None
	nobody := 1.0
	total := 0.0
	for _, c := range among {
		total += s.posterior[c]
	}
	for _, c := range among {
		p := (1 - min(s.none, mostDoubt)) * share(s.posterior[c], total)
		level := s.r.Conditions[c].Triage
		if dangerous := level >= model.Emergency; p >= floor || dangerous && p >= dangerousFloor {
			s.suspects = append(s.suspects, suspect{c, dangerous, level, p})
			s.suspectOf[c] = int32(len(s.suspects))
			s.chances = append(s.chances, p)
			nobody -= p
		}
	}
	s.chances = append(s.chances, max(nobody, 0))
}

// behind are the conditions that may be behind the complaint: the suspected
// ones or, where none brings what the patient reports, all that the patient may
// have. What the catalogue does not explain is asked about like any patient.
func (s *scratch) behind() []int32 {
	if len(s.suspected) > 0 {
		return s.suspected
	}
	s.possible = s.possible[:0]
	for c, p := range s.posterior {
		if p > 0 {
			s.possible = append(s.possible, int32(c))
		}
	}
	return s.possible
}

// collectVotes lets the suspects vote on all that they bring, and on what makes
// them likelier or less likely: risk factors, and findings with a vote. All votes
// begin at zero, which takes less time than to ask at each link whether it is
// the first about its observation.
func (s *scratch) collectVotes() {
	votes, voted := cleared(s.votes, len(s.r.Observations)), cleared(s.voted, len(s.r.Observations))
	for i := range s.suspects {
		suspect := &s.suspects[i]
		links := model.Part(s.r.LinksByCondition, s.r.Conditions[suspect.condition].Links)
		for k := range links {
			link := &links[k]
			voted[link.Other] = true
			votes[link.Other].add(suspect, link.Share, link.Entropy)
		}
	}
	from, to := s.r.ObservationsOfKind(model.RiskFactor)
	for i := range s.suspects {
		suspect := &s.suspects[i]
		carriers := model.Part(s.r.Carriers, s.r.Conditions[suspect.condition].Carriers)
		for k := range carriers {
			c := &carriers[k]
			if o := c.Observation; voted[o] || from <= o && o < to {
				voted[o] = true
				votes[o].add(suspect, c.Share, c.Entropy)
			}
		}
	}
	s.votes, s.voted = votes, voted
}

// gain is the information in an observation without a parent.
func (v *vote) gain(leak float64) float64 {
	rest := max(1-v.p, 0)
	return model.BinaryEntropy(v.share+rest*leak) - v.entropy - rest*model.BinaryEntropy(leak)
}

// bound is at least the gain, and needs no logarithm.
func (v *vote) bound(leak float64) float64 {
	rest := max(1-v.p, 0)
	return spread(1, v.share+rest*leak, v.square+rest*leak*leak)
}

// spread bounds the mutual information of an answer and the suspects from
// above by their chi-squared divergence: the variance of the suspects' shares
// over that of the answer. all, first and second are the sums of the chances,
// times the share to the power of zero, one and two.
func spread(all, first, second float64) float64 {
	q := share(first, all)
	if q == 0 || q == 1 {
		return 0
	}
	return max(second-first*q, 0) / (q * (1 - q))
}

// gainBound is at least gain, and needs no logarithm.
func gainBound(chances, answers []float64) float64 {
	all, first, second := 0.0, 0.0, 0.0
	for i, a := range answers {
		all += chances[i]
		first += chances[i] * a
		second += chances[i] * a * a
	}
	return spread(all, first, second)
}

// answers fills in answer: for each suspect, and last for none of them, how
// likely the observation is to be present, given its parent when it has one.
func (s *scratch) answers(o model.ObservationIndex) {
	s.answer = sized(s.answer, len(s.chances))
	s.shares(o, s.answer)
	parent := s.r.Observations[o].Parent
	if parent == model.None {
		return
	}
	if s.sharesOf != parent { // siblings mostly come one after another
		s.parentShares = sized(s.parentShares, len(s.answer))
		s.shares(parent, s.parentShares)
		s.sharesOf = parent
	}
	for i, a := range s.answer {
		s.answer[i] = share(a, s.parentShares[i])
	}
}

// shares fills in the share of patients with each suspect, and last with none
// of them, who report an observation.
func (s *scratch) shares(o model.ObservationIndex, into []float64) {
	observation := &s.r.Observations[o]
	for i := range into {
		into[i] = observation.Leak
	}
	links := model.Part(s.r.LinksByObservation, observation.Links)
	for k := range links {
		if i := s.suspectOf[links[k].Other]; i > 0 {
			into[i-1] = links[k].Share
		}
	}
	for _, f := range model.Part(s.r.Factors, observation.Factors) {
		if i := s.suspectOf[f.Condition]; i > 0 {
			into[i-1] = model.CarrierShare(observation.Leak, f.Present, f.Absent)
		}
	}
}

// gain is the mutual information, in nats, of a yes or no answer and the
// suspects, who have these chances; when the chances add up to less than one,
// it is that times the probability that the question comes up at all.
func gain(chances, answers []float64) float64 {
	all, q, rest := 0.0, 0.0, 0.0
	last, entropy := -1.0, 0.0 // most suspects share the leak
	for i, a := range answers {
		if a != last {
			last, entropy = a, model.BinaryEntropy(a)
		}
		all += chances[i]
		q += chances[i] * a
		rest += chances[i] * entropy
	}
	return all*model.BinaryEntropy(share(q, all)) - rest
}

// levelGain is the mutual information, in nats, of a yes or no answer and the
// triage level of the condition behind the complaint; none of the suspects
// counts as a consultation.
func (s *scratch) levelGain(answers []float64) float64 {
	var p, yes [model.EmergencyAmbulance + 1]float64
	q := 0.0
	for i, a := range answers {
		level := model.Consultation
		if i < len(s.suspects) {
			level = s.suspects[i].level
		}
		p[level] += s.chances[i]
		yes[level] += s.chances[i] * a
		q += s.chances[i] * a
	}
	gain := model.BinaryEntropy(q)
	for level := range p {
		gain -= p[level] * model.BinaryEntropy(share(yes[level], p[level]))
	}
	return gain
}
