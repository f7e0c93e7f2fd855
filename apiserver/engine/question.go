// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// QuestionType says how a question is answered.
type QuestionType uint8

// The types of questions: one observation; one item of a group; each item of a
// group.
const (
	Single QuestionType = iota
	GroupSingle
	GroupMultiple
)

// A Question asks about one observation or about the items of a group.
type Question struct {
	Type                  QuestionType
	Text, TextThirdPerson string
	// Items are what is asked, in the order to show; one for Single.
	Items []model.ObservationIndex
	// Group is the group that is asked, model.None for Single.
	Group model.GroupIndex
}

const (
	// redFlagFloor is the probability, of an emergency that shows itself by a
	// red flag, from which the red flag is asked before anything else.
	redFlagFloor = 0.003
	// levelWeight is what information about the triage level is worth, beside
	// information about the condition, and conditionWeight what the latter is
	// worth where the interview is for triage.
	levelWeight     = 1.0
	conditionWeight = 0.25
)

// A candidate is a question that could be asked.
type candidate struct {
	observation model.ObservationIndex // the first item of a group
	group       model.GroupIndex       // model.None for a single observation
	gain        float64                // information about the condition, in nats
	levelGain   float64                // information about the triage level, in nats
	value       float64                // both, weighed
	danger      float64                // probability of an emergency that a red flag among the items would show
}

// noCandidate is what there is when nothing is left to ask.
var noCandidate = candidate{observation: model.None, group: model.None}

// choose picks the next question: the red flag of the likeliest emergency or,
// when no emergency is likely enough, the question worth most.
func (s *scratch) choose(o Options) candidate {
	s.findSuspects()
	s.collectVotes()
	s.findCompleting()
	s.findCandidates(o)
	best := noCandidate
	for _, c := range s.candidates {
		if c.danger >= redFlagFloor && c.danger > best.danger {
			best = c
		}
	}
	if best.observation != model.None {
		s.addLevelGain(&best, o)
		return best
	}
	for _, c := range s.candidates {
		// The level depends on the condition, so that the answer tells no more
		// about the level than about the condition.
		if c.gain*(1+levelWeight) <= best.value {
			continue
		}
		s.addLevelGain(&c, o)
		if c.value > best.value {
			best = c
		}
	}
	return best
}

// findCandidates lists all that can be asked and would tell anything, in order
// of observation.
func (s *scratch) findCandidates(o Options) {
	s.candidates = s.candidates[:0]
	s.asked = cleared(s.asked, len(s.r.Groups))
	s.markAskedGroups(o)
	slices.Sort(s.voted)
	for _, observation := range s.voted {
		s.consider(observation, o)
	}
	from, to := s.r.ObservationsOfKind(model.RiskFactor)
	for observation := from; observation < to; observation++ {
		if s.r.Observations[observation].Factors.Len() > 0 && !s.votes[observation].seen {
			s.consider(observation, o)
		}
	}
}

// markAskedGroups marks the groups that were asked before: one of their items
// was answered in the interview.
func (s *scratch) markAskedGroups(o Options) {
	for i := range s.p.findings {
		f := &s.p.findings[i]
		group := s.r.Observations[f.observation].Group
		if group != model.None && f.reported && f.source == SourceNone && !o.DisableGroups {
			s.asked[group] = true
		}
	}
}

// consider adds an observation, or the group that it is asked in, to the
// candidates.
func (s *scratch) consider(observation model.ObservationIndex, o Options) {
	if !s.askable(observation) {
		return
	}
	group := s.r.Observations[observation].Group
	switch {
	case group == model.None || o.DisableGroups:
		s.candidates = append(s.candidates, s.single(observation))
	case !s.asked[group]:
		s.asked[group] = true
		s.candidates = append(s.candidates, s.groupCandidate(group))
	}
}

// askable reports whether an observation can be asked: patients can answer it,
// it applies to them, nothing is known about it, and its parent is present.
func (s *scratch) askable(observation model.ObservationIndex) bool {
	o := &s.r.Observations[observation]
	if o.Question.Length == 0 || !s.p.admits(o) || s.p.find(observation) != nil || givenOutside(o) {
		return false
	}
	if o.Parent == model.None {
		return true
	}
	parent := s.p.find(o.Parent)
	return parent != nil && parent.choice == Present
}

// givenOutside reports whether an observation is a risk factor that clients
// give before the interview: where the patient lives, and the body mass index.
func givenOutside(o *model.Observation) bool {
	if o.Kind != model.RiskFactor {
		return false
	}
	switch o.Number {
	case 6, 7, 13, 14, 15, 16, 17, 18, 19, 20, 21, 236:
		return true
	}
	return false
}

// single is the candidate for one observation.
func (s *scratch) single(observation model.ObservationIndex) candidate {
	o := &s.r.Observations[observation]
	c := candidate{observation: observation, group: model.None}
	vote := &s.votes[observation]
	if o.Parent == model.None && o.Factors.Len() == 0 {
		c.gain = vote.rootGain(o.Leak)
		if s.raisesLevel(observation) {
			c.danger = vote.danger
		}
		return c
	}
	s.answer = sized(s.answer, len(s.chances))
	s.answers(observation, s.answer)
	c.gain = gain(s.chances, s.answer)
	if s.raisesLevel(observation) {
		c.danger = s.danger(s.answer)
	}
	return c
}

// danger is the probability of an emergency and a positive answer.
func (s *scratch) danger(answers []float64) float64 {
	sum := 0.0
	for i, suspect := range s.suspects {
		if suspect.dangerous {
			sum += suspect.p * answers[i]
		}
	}
	return sum
}

// raisesLevel reports whether an observation, when present, would raise what
// the evidence asks for: a red flag, alone or as the last of a tuple.
func (s *scratch) raisesLevel(observation model.ObservationIndex) bool {
	if seriousnessLevel(s.r.Observations[observation].Seriousness) > s.byEvidence {
		return true
	}
	return slices.Contains(s.completing, observation)
}

// groupCandidate is the candidate for what is not known yet of a group.
func (s *scratch) groupCandidate(group model.GroupIndex) candidate {
	g := &s.r.Groups[group]
	c := candidate{observation: model.None, group: group}
	s.answer = sized(s.answer, len(s.chances))
	s.reached = append(s.reached[:0], s.chances...)
	for _, item := range model.Part(s.r.GroupItems, g.Items) {
		if !s.askable(item) {
			continue
		}
		if c.observation == model.None {
			c.observation = item
		}
		s.answers(item, s.answer)
		if s.raisesLevel(item) {
			c.danger += s.danger(s.answer)
		}
		if g.Type == model.GroupSingle {
			s.exclude(s.answer)
		}
		c.gain += gain(s.reached, s.answer)
		if g.Type == model.GroupSingle {
			for i, a := range s.answer {
				s.reached[i] *= 1 - a
			}
		}
	}
	return c
}

// exclude turns the answers to an item of an exclusive group into those given
// that no item before it was chosen, so that the gains of the items add up to
// that of the group.
func (s *scratch) exclude(answers []float64) {
	for i, a := range answers {
		answers[i] = share(a*s.chances[i], s.reached[i])
	}
}

// addLevelGain completes a candidate with what its answer tells about the
// triage level.
func (s *scratch) addLevelGain(c *candidate, o Options) {
	s.answer = sized(s.answer, len(s.chances))
	if c.group == model.None {
		s.answers(c.observation, s.answer)
		c.levelGain = s.levelGain(s.answer)
	} else {
		for _, item := range model.Part(s.r.GroupItems, s.r.Groups[c.group].Items) {
			if s.askable(item) {
				s.answers(item, s.answer)
				c.levelGain += s.levelGain(s.answer)
			}
		}
		c.levelGain = min(c.levelGain, c.gain)
	}
	if o.Mode == DefaultMode {
		c.value = c.gain + levelWeight*c.levelGain
	} else {
		c.value = conditionWeight*c.gain + levelWeight*c.levelGain
	}
}

// question puts a candidate into words; nil when there is none.
func (s *scratch) question(c candidate) *Question {
	if c.observation == model.None {
		return nil
	}
	if c.group == model.None {
		o := &s.r.Observations[c.observation]
		return &Question{
			Type: Single, Group: model.None, Items: []model.ObservationIndex{c.observation},
			Text: s.r.Text(o.Question), TextThirdPerson: s.r.Text(o.QuestionThirdPerson),
		}
	}
	g := &s.r.Groups[c.group]
	q := &Question{Type: GroupMultiple, Group: c.group, Text: s.r.Text(g.Question), TextThirdPerson: s.r.Text(g.QuestionThirdPerson)}
	if g.Type == model.GroupSingle {
		q.Type = GroupSingle
	}
	for _, item := range model.Part(s.r.GroupItems, g.Items) {
		if s.askable(item) {
			q.Items = append(q.Items, item)
		}
	}
	return q
}
