// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/anamnesis-dev/anamnesis/apiserver/model"

const (
	// redFlagFloor is the probability, of an emergency that shows itself by a
	// red flag, or by one of a group, from which it is asked before anything
	// else.
	redFlagFloor = 0.02
	// complaintFloor is the same where the red flag describes what the patient
	// complains of: below a present parent, as the sudden onset of a headache.
	complaintFloor = 0.0003
	// dangerWeight is what a red flag is worth below that, in nats for each
	// unit of that probability.
	dangerWeight = 30.0
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
	prospect
	gain      float64 // information about the condition, in nats
	levelGain float64 // information about the triage level, in nats
	value     float64 // both, weighed
	urgent    bool    // it is asked for its danger, before anything else or before the end
	duration  bool    // it asks how long the observation has lasted, and nothing else counts
}

// A prospect is what makes a question worth a closer look.
type prospect struct {
	bound  float64 // of the gain, from above
	danger float64 // probability of an emergency that a red flag among the items would show
	lead   float64 // the same for red flags that can be asked after it
	itself float64 // probability of a yes that is an emergency by itself, whatever brings it
}

// add takes in an item that is asked in the same question.
func (p *prospect) add(item prospect) {
	p.bound += item.bound
	p.danger += item.danger
	p.lead = max(p.lead, item.lead)
	p.itself = max(p.itself, item.itself)
}

// choose picks the next question: an urgent red flag, else a duration that is
// missing, else the question worth most; and says whether the interview should
// stop instead. A missing duration holds it up, unless it is for the triage
// level alone.
func (s *scratch) choose(o Options) (next candidate, stop bool) {
	s.findSuspects(s.behind(), suspectFloor)
	s.collectVotes()
	s.findCandidates(o)
	flag := s.worstFlag()
	if flag.urgent {
		s.weigh(&flag, o)
		return flag, s.tired(o)
	}
	next, stop = s.best(flag, o)
	if symptom := s.undated(o); symptom != model.None {
		return candidate{observation: symptom, group: model.None, duration: true}, stop && (o.Mode == ShortTriage || s.tired(o))
	}
	return next, stop
}

// best is the question worth most, or a red flag that must be asked before the
// interview stops. In an interview for the level alone that comes first once the
// least number of questions was asked: until it is asked the level is open.
func (s *scratch) best(flag candidate, o Options) (best candidate, stop bool) {
	best = nothingToAsk()
	s.weighCandidate(s.promising(), &best, o)
	for i := range s.candidates {
		s.weighCandidate(&s.candidates[i], &best, o)
	}
	stop = s.shouldStop(best, o)
	pressing := stop || o.Mode == ShortTriage && s.questionsAsked(o) >= minQuestions
	if pressing && !s.tired(o) {
		if left := s.mustAsk(flag); left.observation != model.None {
			left.urgent = true
			s.weigh(&left, o)
			return left, false
		}
	}
	return best, stop
}

// mustAsk is what an interview does not stop without: the worst red flag or
// else what is likeliest to be an emergency by itself.
func (s *scratch) mustAsk(flag candidate) candidate {
	if flag.danger >= dangerLeft {
		return flag
	}
	likeliest := candidate{observation: model.None, group: model.None, prospect: prospect{itself: emergencyLeft}}
	for i := range s.candidates {
		if c := &s.candidates[i]; c.itself > likeliest.itself {
			likeliest = *c
		}
	}
	return likeliest
}

// nothingToAsk stands for no question.
func nothingToAsk() candidate { return candidate{observation: model.None, group: model.None} }

// worstFlag is the red flag of the likeliest emergency, the urgent ones first.
// It is not weighed yet, as most are not asked.
func (s *scratch) worstFlag() candidate {
	worst := nothingToAsk()
	for i := range s.candidates {
		c := &s.candidates[i]
		floor := redFlagFloor
		if s.r.Observations[c.observation].Parent != model.None {
			floor = complaintFloor
		}
		urgent := c.danger >= floor
		if !worst.urgent && urgent || worst.urgent == urgent && c.danger > worst.danger {
			worst = *c
			worst.urgent = urgent
		}
	}
	return worst
}

// promising is the candidate with the highest bound, nil when there is none.
func (s *scratch) promising() *candidate {
	var most *candidate
	for i := range s.candidates {
		if c := &s.candidates[i]; most == nil || c.most(c.bound) > most.most(most.bound) {
			most = c
		}
	}
	return most
}

// weighCandidate replaces the best candidate by one that is worth more. It
// looks closer step by step, as long as the candidate could be. The level
// follows from the condition, so that an answer tells no more about the level
// than about the condition.
func (s *scratch) weighCandidate(c *candidate, best *candidate, o Options) {
	if c == nil || c.most(c.bound) <= best.value {
		return
	}
	s.addGain(c)
	if c.most(c.gain) <= best.value {
		return
	}
	s.addLevelGain(c, o)
	if c.value > best.value || c.value == best.value && c.observation < best.observation {
		*best = *c
	}
}

// most is the most that a candidate with this gain, or a bound of it, can be
// worth.
func (c *candidate) most(gain float64) float64 {
	return gain*(1+levelWeight) + dangerWeight*(c.danger+c.lead)
}

// findCandidates lists all that can be asked and would tell anything, in order
// of observation.
func (s *scratch) findCandidates(o Options) {
	s.candidates = s.candidates[:0]
	s.asked = cleared(s.asked, len(s.r.Groups))
	s.markAskedGroups(o)
	for observation, voted := range s.voted {
		if voted {
			s.consider(model.ObservationIndex(observation), o)
		}
	}
}

// consider adds an observation, or the group that it is asked in, to the
// candidates.
func (s *scratch) consider(observation model.ObservationIndex, o Options) {
	group := s.r.Observations[observation].Group
	inGroup := group != model.None && !o.DisableGroups
	if inGroup && s.asked[group] || !s.askable(observation) {
		return
	}
	if inGroup {
		s.asked[group] = true
		s.candidates = append(s.candidates, s.groupCandidate(group))
		return
	}
	s.candidates = append(s.candidates, s.single(observation))
}

// single is the candidate for one observation.
func (s *scratch) single(o model.ObservationIndex) candidate {
	return candidate{observation: o, group: model.None, prospect: s.prospect(o)}
}

// prospect is that of an observation by itself.
func (s *scratch) prospect(o model.ObservationIndex) (p prospect) {
	observation := &s.r.Observations[o]
	if observation.Parent != model.None {
		s.answers(o)
		p = s.alarmOf(o)
		p.bound = gainBound(s.chances, s.answer)
		return p
	}
	v := &s.votes[o]
	p.bound = v.bound(observation.Leak)
	p.lead = s.dangerBelow(observation)
	if s.raisesLevel(o) {
		p.danger, p.itself = v.danger, s.emergencyItself(o, v.share)
	}
	return p
}

// alarmOf is the part of a prospect that is about emergencies, of an observation
// whose answers are filled in.
func (s *scratch) alarmOf(o model.ObservationIndex) (p prospect) {
	if s.raisesLevel(o) {
		p.danger, p.itself = s.danger(s.answer), s.emergencyItself(o, s.yes(s.answer))
	}
	return p
}

// dangerBelow is the greatest danger that a red flag among the children of an
// observation would show.
func (s *scratch) dangerBelow(o *model.Observation) float64 {
	most := 0.0
	for _, child := range model.Part(s.r.ChildRefs, o.Children) {
		if s.voted[child] && s.known[child] == nothingKnown && s.raisesLevel(child) {
			most = max(most, s.votes[child].danger)
		}
	}
	return most
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

// emergencyItself is the probability of a yes where that is an emergency by
// itself, whatever condition brings it, as thoughts of suicide are.
func (s *scratch) emergencyItself(observation model.ObservationIndex, yes float64) float64 {
	if !s.isEmergency(observation) {
		return 0
	}
	return yes
}

func (s *scratch) isEmergency(observation model.ObservationIndex) bool {
	return seriousnessLevel(s.r.Observations[observation].Seriousness) >= model.Emergency
}

// yes is the probability that one of the suspects is there and brings a yes.
func (s *scratch) yes(answers []float64) float64 {
	sum := 0.0
	for i, suspect := range s.suspects {
		sum += suspect.p * answers[i]
	}
	return sum
}

// raisesLevel reports whether an observation, when present, would raise what
// the evidence asks for: a red flag, alone or as the last of a tuple.
func (s *scratch) raisesLevel(observation model.ObservationIndex) bool {
	return s.levelWith(observation) > s.byEvidence
}

// levelWith is what the evidence asks for when an observation is present too.
func (s *scratch) levelWith(observation model.ObservationIndex) model.TriageLevel {
	return max(s.byEvidence, s.completes[observation], seriousnessLevel(s.r.Observations[observation].Seriousness))
}

// groupCandidate is the candidate for what is not known yet of a group.
func (s *scratch) groupCandidate(group model.GroupIndex) candidate {
	c := candidate{observation: model.None, group: group}
	exclusive := s.r.Groups[group].Type == model.GroupSingle
	if exclusive {
		s.reached = append(s.reached[:0], s.chances...)
	}
	for _, item := range s.items(group) {
		if !s.askable(item) {
			continue
		}
		if c.observation == model.None {
			c.observation = item
		}
		switch {
		case exclusive:
			c.add(s.exclusiveProspect(item))
		case !s.untold(item):
			c.add(s.prospect(item))
		}
	}
	return c
}

// exclusiveProspect is that of an item of an exclusive group, given that no item
// before it was chosen.
func (s *scratch) exclusiveProspect(item model.ObservationIndex) prospect {
	s.answers(item)
	p := s.alarmOf(item)
	s.exclude()
	p.bound = gainBound(s.reached, s.answer)
	s.passOver()
	return p
}

func (s *scratch) items(group model.GroupIndex) []model.ObservationIndex {
	return model.Part(s.r.GroupItems, s.r.Groups[group].Items)
}

// exclude turns the answers to an item of an exclusive group into those given
// that no item before it was chosen, so that the gains of the items add up to
// that of the group; passOver goes on to the next item.
func (s *scratch) exclude() {
	for i, a := range s.answer {
		s.answer[i] = share(a*s.chances[i], s.reached[i])
	}
}

func (s *scratch) passOver() {
	for i, a := range s.answer {
		s.reached[i] *= 1 - a
	}
}

// addGain completes a candidate with what its answer tells about the
// condition.
func (s *scratch) addGain(c *candidate) {
	if c.group == model.None {
		c.gain = s.gainAlone(c.observation)
		return
	}
	c.gain = 0
	s.reached = append(s.reached[:0], s.chances...)
	for _, item := range s.items(c.group) {
		if s.askable(item) {
			c.gain += s.gainInGroup(c.group, item)
		}
	}
}

// gainInGroup is the information in an item of a group, in the order of its
// items.
func (s *scratch) gainInGroup(group model.GroupIndex, item model.ObservationIndex) float64 {
	if s.r.Groups[group].Type == model.GroupMultiple {
		return s.gainAlone(item)
	}
	s.answers(item)
	s.exclude()
	defer s.passOver()
	return gain(s.reached, s.answer)
}

// gainAlone is the information in an observation by itself.
func (s *scratch) gainAlone(o model.ObservationIndex) float64 {
	switch observation := &s.r.Observations[o]; {
	case observation.Parent != model.None:
		s.answers(o)
		return gain(s.chances, s.answer)
	case s.untold(o):
		return 0
	default:
		return s.votes[o].gain(observation.Leak)
	}
}

// untold reports whether an observation without a parent tells nothing, since
// nobody voted on it.
func (s *scratch) untold(o model.ObservationIndex) bool {
	return !s.voted[o] && s.r.Observations[o].Parent == model.None
}

// weigh completes a candidate with what it is worth.
func (s *scratch) weigh(c *candidate, o Options) {
	s.addGain(c)
	s.addLevelGain(c, o)
}

// addLevelGain completes a candidate with what its answer tells about the
// triage level, and with what both are worth.
func (s *scratch) addLevelGain(c *candidate, o Options) {
	c.levelGain = 0
	if c.group == model.None {
		s.answers(c.observation)
		c.levelGain = s.levelGain(s.answer)
	} else {
		for _, item := range s.items(c.group) {
			if s.askable(item) {
				s.answers(item)
				c.levelGain += s.levelGain(s.answer)
			}
		}
	}
	c.levelGain = min(c.levelGain, c.gain)
	weight := 1.0
	if o.Mode != DefaultMode {
		weight = conditionWeight
	}
	c.value = weight*c.gain + levelWeight*c.levelGain + dangerWeight*(c.danger+c.lead)
}
