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
	// choice of the question, dangerousFloor the same for emergencies.
	suspectFloor   = 0.002
	dangerousFloor = 0.0002
)

// A suspect is a condition with a say in the choice of the question.
type suspect struct {
	condition int32
	dangerous bool // it is an emergency
	level     model.TriageLevel
	p         float64 // that it is behind the complaint
}

// A vote is what the suspects say together about an observation: the sums,
// over the suspects linked to it, of p, p s and p h(s), and of p s over the
// dangerous ones.
type vote struct {
	p, share, entropy, danger float64
	seen                      bool
}

// findSuspects weighs the suspects against each other and against none of
// them, which keeps what is left of one.
func (s *scratch) findSuspects() {
	s.suspects, s.chances = s.suspects[:0], s.chances[:0]
	nobody := 1.0
	total := 0.0
	for _, c := range s.suspected {
		total += s.posterior[c]
	}
	for _, c := range s.suspected {
		p := (1 - s.none) * share(s.posterior[c], total)
		level := s.r.Conditions[c].Triage
		if dangerous := level >= model.Emergency; p >= suspectFloor || dangerous && p >= dangerousFloor {
			s.suspects = append(s.suspects, suspect{c, dangerous, level, p})
			s.suspectOf[c] = int32(len(s.suspects))
			s.chances = append(s.chances, p)
			nobody -= p
		}
	}
	s.chances = append(s.chances, max(nobody, 0))
}

// collectVotes lets the suspects vote on all that they are linked to.
func (s *scratch) collectVotes() {
	s.voted = s.voted[:0]
	for _, suspect := range s.suspects {
		for _, link := range model.Part(s.r.LinksByCondition, s.r.Conditions[suspect.condition].Links) {
			v := &s.votes[link.Other]
			if !v.seen {
				v.seen = true
				s.voted = append(s.voted, model.ObservationIndex(link.Other))
			}
			v.p += suspect.p
			v.share += suspect.p * link.Share
			v.entropy += suspect.p * link.Entropy
			if suspect.dangerous {
				v.danger += suspect.p * link.Share
			}
		}
	}
}

// rootGain is the gain of an observation without a parent, from its vote.
func (v *vote) rootGain(leak float64) float64 {
	rest := 1 - v.p
	q := v.share + rest*leak
	return model.BinaryEntropy(q) - v.entropy - rest*model.BinaryEntropy(leak)
}

// answers fills in, for each suspect and last for none of them, how likely the
// observation is to be present, given that its parent is when it has one.
func (s *scratch) answers(o model.ObservationIndex, into []float64) {
	s.shares(o, into)
	parent := s.r.Observations[o].Parent
	if parent == model.None {
		return
	}
	s.parentShares = sized(s.parentShares, len(into))
	s.shares(parent, s.parentShares)
	for i := range into {
		into[i] = share(into[i], s.parentShares[i])
	}
}

// shares fills in the share of patients with each suspect, and last with none
// of them, who report an observation.
func (s *scratch) shares(o model.ObservationIndex, into []float64) {
	observation := &s.r.Observations[o]
	for i := range into {
		into[i] = observation.Leak
	}
	for _, link := range model.Part(s.r.LinksByObservation, observation.Links) {
		if i := s.suspectOf[link.Other]; i > 0 {
			into[i-1] = link.Share
		}
	}
	for _, f := range model.Part(s.r.Factors, observation.Factors) {
		if i := s.suspectOf[f.Condition]; i > 0 {
			into[i-1] = carriers(observation.Leak, f)
		}
	}
}

// carriers is the share of patients with a condition who have a risk factor
// that share of all people have: Bayes' rule on the factor's multipliers.
func carriers(of float64, f model.Factor) float64 {
	present, absent := of*f.Present, (1-of)*f.Absent
	return share(present, present+absent)
}

// gain is the mutual information, in nats, of a yes or no answer and the
// suspects, who have these chances; when the chances add up to less than one,
// it is that times the probability that the question comes up at all.
func gain(chances, answers []float64) float64 {
	all, q, rest := 0.0, 0.0, 0.0
	for i, a := range answers {
		all += chances[i]
		q += chances[i] * a
		rest += chances[i] * model.BinaryEntropy(a)
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
