// SPDX-License-Identifier: Apache-2.0

package inference

import "github.com/anamnesis-dev/anamnesis/apiserver/medical/model"

const (
	// redFlagFloor is the minimum probability of an emergency that presents with a red
	// flag, or with one of a group, for that question to take precedence over all others.
	redFlagFloor = 0.02
	// complaintFloor is the corresponding minimum for a red flag that qualifies a
	// complaint, such as the sudden onset of a headache: its parent is present.
	complaintFloor = 0.0003
	// dangerWeight is the value of a red flag below its floor, in nats per unit of
	// emergency probability.
	dangerWeight = 30.0
	// levelWeight is the weight of information about the triage level relative to
	// information about the condition. conditionWeight is the weight of information about
	// the condition in a triage interview.
	levelWeight     = 1.0
	conditionWeight = 0.25
)

// A candidate is a question that could be asked.
type candidate struct {
	observation model.ObservationIndex // first item if it is a group
	group       model.GroupIndex       // model.None for a single observation
	estimate
	gain         float64 // information about the condition, in nats
	levelGain    float64 // information about the triage level, in nats
	value        float64 // weighted sum of both gains
	urgent       bool    // asked because of its danger, before any other question or before the interview stops
	asksDuration bool    // asks how long the observation has lasted; all other fields are ignored
}

// An estimate holds the cheap bounds that decide whether a question is evaluated in
// full.
type estimate struct {
	maxGain           float64 // upper bound of the gain
	danger            float64 // probability of an emergency that a red flag among the items would reveal
	childDanger       float64 // highest danger of the red flags that become askable after this question
	inherentEmergency float64 // probability that the answer is yes and is an emergency in itself, whatever the cause
}

// add merges the estimate of an item that belongs to the same question.
func (e *estimate) add(item estimate) {
	e.maxGain += item.maxGain
	e.danger += item.danger
	e.childDanger = max(e.childDanger, item.childDanger)
	e.inherentEmergency = max(e.inherentEmergency, item.inherentEmergency)
}

// chooseQuestion returns the next question, and whether the interview should stop
// instead. It prefers an urgent red flag, then a missing duration, then the question
// with the highest value. A missing duration delays the stop, except in an interview
// for the triage level only.
func (s *scratch) chooseQuestion(o Options) (next candidate, stop bool) {
	s.findSuspects(s.possibleCauses(), suspectFloor)
	s.tallySuspects()
	s.findCandidates(o)
	flag := s.topRedFlag()
	if flag.urgent {
		s.computeValue(&flag, o)
		return flag, s.reachedMaxQuestions(o)
	}
	next, stop = s.bestCandidate(flag, o)
	if symptom := s.nextDurationSymptom(o); symptom != model.None {
		return candidate{observation: symptom, group: model.None, asksDuration: true}, stop && (o.Mode == ShortTriageMode || s.reachedMaxQuestions(o))
	}
	return next, stop
}

// bestCandidate returns the question with the highest value, or a red flag that must
// be asked before the interview stops. In an interview for the triage level only, the
// red flag takes precedence after the minimum number of questions, since the level is
// undecided until it is asked.
func (s *scratch) bestCandidate(flag candidate, o Options) (best candidate, stop bool) {
	best = noCandidate()
	s.updateBest(s.mostPromising(), &best, o)
	for i := range s.candidates {
		s.updateBest(&s.candidates[i], &best, o)
	}
	stop = s.shouldStop(best, o)
	mustAskRedFlag := stop || o.Mode == ShortTriageMode && s.answeredQuestionCount(o) >= minQuestions
	if mustAskRedFlag && !s.reachedMaxQuestions(o) {
		if mandatory := s.mandatoryCandidate(flag); mandatory.observation != model.None {
			mandatory.urgent = true
			s.computeValue(&mandatory, o)
			return mandatory, false
		}
	}
	return best, stop
}

// mandatoryCandidate returns the question that must be asked before the interview
// stops: the worst red flag or, failing that, the most likely observation that is an
// emergency in itself.
func (s *scratch) mandatoryCandidate(flag candidate) candidate {
	if flag.danger >= minRemainingDanger {
		return flag
	}
	mostLikely := candidate{observation: model.None, group: model.None, estimate: estimate{inherentEmergency: minRemainingEmergency}}
	for i := range s.candidates {
		if c := &s.candidates[i]; c.inherentEmergency > mostLikely.inherentEmergency {
			mostLikely = *c
		}
	}
	return mostLikely
}

// noCandidate returns the placeholder for the absence of a question.
func noCandidate() candidate { return candidate{observation: model.None, group: model.None} }

// topRedFlag returns the red flag of the most likely emergency, preferring urgent
// ones. Its value is not computed yet, because most red flags are not asked.
func (s *scratch) topRedFlag() candidate {
	top := noCandidate()
	for i := range s.candidates {
		c := &s.candidates[i]
		floor := redFlagFloor
		if s.r.Observations[c.observation].Parent != model.None {
			floor = complaintFloor
		}
		urgent := c.danger >= floor
		if !top.urgent && urgent || top.urgent == urgent && c.danger > top.danger {
			top = *c
			top.urgent = urgent
		}
	}
	return top
}

// mostPromising returns the candidate with the highest upper bound, or nil if there
// are no candidates.
func (s *scratch) mostPromising() *candidate {
	var best *candidate
	for i := range s.candidates {
		if c := &s.candidates[i]; best == nil || c.maxValue(c.maxGain) > best.maxValue(best.maxGain) {
			best = c
		}
	}
	return best
}

// updateBest replaces best if c has a higher value. It evaluates c in stages, and gives
// up as soon as c cannot exceed best. Because the triage level is a function of the
// condition, an answer carries no more information about the level than about the
// condition.
func (s *scratch) updateBest(c *candidate, best *candidate, o Options) {
	if c == nil || c.maxValue(c.maxGain) <= best.value {
		return
	}
	s.computeGain(c)
	if c.maxValue(c.gain) <= best.value {
		return
	}
	s.computeLevelGainAndValue(c, o)
	if c.value > best.value || c.value == best.value && c.observation < best.observation {
		*best = *c
	}
}

// maxValue returns the upper bound of the candidate's value for the given gain, or for
// an upper bound of the gain.
func (c *candidate) maxValue(gain float64) float64 {
	return gain*(1+levelWeight) + dangerWeight*(c.danger+c.childDanger)
}

// findCandidates collects all informative questions that can be asked, in order of
// observation.
func (s *scratch) findCandidates(o Options) {
	s.candidates = s.candidates[:0]
	s.seenGroups = resizedZero(s.seenGroups, len(s.r.Groups))
	s.markAskedGroups(o)
	for observation, voted := range s.hasTally {
		if voted {
			s.addCandidate(model.ObservationIndex(observation), o)
		}
	}
}

// addCandidate adds an observation, or the group that contains it, to the candidates.
func (s *scratch) addCandidate(observation model.ObservationIndex, o Options) {
	group := s.r.Observations[observation].Group
	inGroup := group != model.None && !o.DisableGroups
	if inGroup && s.seenGroups[group] || !s.isAskable(observation) {
		return
	}
	if inGroup {
		s.seenGroups[group] = true
		s.candidates = append(s.candidates, s.groupCandidate(group))
		return
	}
	s.candidates = append(s.candidates, s.singleCandidate(observation))
}

// singleCandidate returns the candidate for one observation.
func (s *scratch) singleCandidate(o model.ObservationIndex) candidate {
	return candidate{observation: o, group: model.None, estimate: s.estimate(o)}
}

// estimate returns the estimate for a single observation.
func (s *scratch) estimate(o model.ObservationIndex) (e estimate) {
	observation := &s.r.Observations[o]
	if observation.Parent != model.None {
		s.fillAnswers(o)
		e = s.estimateDanger(o)
		e.maxGain = gainBound(s.suspectProbabilities, s.answerProbabilities)
		return e
	}
	t := &s.tallies[o]
	e.maxGain = t.gainBound(observation.Leak)
	e.childDanger = s.maxChildDanger(observation)
	if s.raisesLevel(o) {
		e.danger, e.inherentEmergency = t.danger, s.inherentEmergencyProbability(o, t.share)
	}
	return e
}

// estimateDanger returns the danger fields of the estimate for an observation. The
// caller must call fillAnswers first.
func (s *scratch) estimateDanger(o model.ObservationIndex) (e estimate) {
	if s.raisesLevel(o) {
		e.danger, e.inherentEmergency = s.dangerProbability(s.answerProbabilities), s.inherentEmergencyProbability(o, s.yesProbability(s.answerProbabilities))
	}
	return e
}

// maxChildDanger returns the highest danger of any red flag among the children of an
// observation.
func (s *scratch) maxChildDanger(o *model.Observation) float64 {
	highest := 0.0
	for _, child := range model.Slice(s.r.ChildRefs, o.Children) {
		if s.hasTally[child] && s.state[child] == stateUnknown && s.raisesLevel(child) {
			highest = max(highest, s.tallies[child].danger)
		}
	}
	return highest
}

// dangerProbability returns the joint probability of an emergency and a positive
// answer.
func (s *scratch) dangerProbability(answers []float64) float64 {
	sum := 0.0
	for i, suspect := range s.suspects {
		if suspect.dangerous {
			sum += suspect.p * answers[i]
		}
	}
	return sum
}

// inherentEmergencyProbability returns yes, the probability of a positive answer, if
// the observation is an emergency in itself, such as suicidal thoughts, and otherwise
// 0.
func (s *scratch) inherentEmergencyProbability(observation model.ObservationIndex, yes float64) float64 {
	if !s.isEmergency(observation) {
		return 0
	}
	return yes
}

func (s *scratch) isEmergency(observation model.ObservationIndex) bool {
	return seriousnessLevel(s.r.Observations[observation].Seriousness) >= model.Emergency
}

// yesProbability returns the probability that a suspect is present and leads to a
// positive answer.
func (s *scratch) yesProbability(answers []float64) float64 {
	sum := 0.0
	for i, suspect := range s.suspects {
		sum += suspect.p * answers[i]
	}
	return sum
}

// raisesLevel reports whether an observation, if present, would raise the triage level
// of the evidence: a red flag, either alone or as the last missing item of a tuple.
func (s *scratch) raisesLevel(observation model.ObservationIndex) bool {
	return s.levelIfPresent(observation) > s.evidenceLevel
}

// levelIfPresent returns the triage level that the evidence would have if the
// observation were present too.
func (s *scratch) levelIfPresent(observation model.ObservationIndex) model.TriageLevel {
	return max(s.evidenceLevel, s.completionLevels[observation], seriousnessLevel(s.r.Observations[observation].Seriousness))
}

// groupCandidate returns the candidate for the open items of a group.
func (s *scratch) groupCandidate(group model.GroupIndex) candidate {
	c := candidate{observation: model.None, group: group}
	exclusive := s.r.Groups[group].Type == model.GroupSingle
	if exclusive {
		s.reach = append(s.reach[:0], s.suspectProbabilities...)
	}
	for _, item := range s.groupItems(group) {
		if !s.isAskable(item) {
			continue
		}
		if c.observation == model.None {
			c.observation = item
		}
		switch {
		case exclusive:
			c.add(s.estimateExclusive(item))
		case !s.isUninformative(item):
			c.add(s.estimate(item))
		}
	}
	return c
}

// estimateExclusive returns the estimate for an item of an exclusive group, given that
// no earlier item was chosen.
func (s *scratch) estimateExclusive(item model.ObservationIndex) estimate {
	s.fillAnswers(item)
	e := s.estimateDanger(item)
	s.conditionOnReach()
	e.maxGain = gainBound(s.reach, s.answerProbabilities)
	s.updateReach()
	return e
}

func (s *scratch) groupItems(group model.GroupIndex) []model.ObservationIndex {
	return model.Slice(s.r.GroupItems, s.r.Groups[group].Items)
}

// conditionOnReach conditions the answers to an item of an exclusive group on the
// event that no earlier item was chosen, so that the gains of the items add up to the
// gain of the group. updateReach advances to the next item.
func (s *scratch) conditionOnReach() {
	for i, a := range s.answerProbabilities {
		s.answerProbabilities[i] = clampedRatio(a*s.suspectProbabilities[i], s.reach[i])
	}
}

func (s *scratch) updateReach() {
	for i, a := range s.answerProbabilities {
		s.reach[i] *= 1 - a
	}
}

// computeGain sets the gain of a candidate, the information about the condition.
func (s *scratch) computeGain(c *candidate) {
	if c.group == model.None {
		c.gain = s.singleGain(c.observation)
		return
	}
	c.gain = 0
	s.reach = append(s.reach[:0], s.suspectProbabilities...)
	for _, item := range s.groupItems(c.group) {
		if s.isAskable(item) {
			c.gain += s.groupItemGain(c.group, item)
		}
	}
}

// groupItemGain returns the information gain of an item of a group. It must be called
// in the order of the items.
func (s *scratch) groupItemGain(group model.GroupIndex, item model.ObservationIndex) float64 {
	if s.r.Groups[group].Type == model.GroupMultiple {
		return s.singleGain(item)
	}
	s.fillAnswers(item)
	s.conditionOnReach()
	defer s.updateReach()
	return mutualInformation(s.reach, s.answerProbabilities)
}

// singleGain returns the information gain of a single observation.
func (s *scratch) singleGain(o model.ObservationIndex) float64 {
	switch observation := &s.r.Observations[o]; {
	case observation.Parent != model.None:
		s.fillAnswers(o)
		return mutualInformation(s.suspectProbabilities, s.answerProbabilities)
	case s.isUninformative(o):
		return 0
	default:
		return s.tallies[o].gain(observation.Leak)
	}
}

// isUninformative reports whether an observation without a parent carries no
// information, because no suspect has a tally for it.
func (s *scratch) isUninformative(o model.ObservationIndex) bool {
	return !s.hasTally[o] && s.r.Observations[o].Parent == model.None
}

// computeValue sets the gains and the value of a candidate.
func (s *scratch) computeValue(c *candidate, o Options) {
	s.computeGain(c)
	s.computeLevelGainAndValue(c, o)
}

// computeLevelGainAndValue sets the information about the triage level and the total
// value of a candidate. The gain must be set.
func (s *scratch) computeLevelGainAndValue(c *candidate, o Options) {
	c.levelGain = 0
	if c.group == model.None {
		s.fillAnswers(c.observation)
		c.levelGain = s.levelGain(s.answerProbabilities)
	} else {
		for _, item := range s.groupItems(c.group) {
			if s.isAskable(item) {
				s.fillAnswers(item)
				c.levelGain += s.levelGain(s.answerProbabilities)
			}
		}
	}
	c.levelGain = min(c.levelGain, c.gain)
	weight := 1.0
	if o.Mode != DefaultMode {
		weight = conditionWeight
	}
	c.value = weight*c.gain + levelWeight*c.levelGain + dangerWeight*(c.danger+c.childDanger)
}
