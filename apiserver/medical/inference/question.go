// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// QuestionType determines how a question is answered.
type QuestionType uint8

// The types of questions: one observation; one item of a group; each item of a group;
// how long the patient has had a symptom.
const (
	Single QuestionType = iota
	GroupSingle
	GroupMultiple
	Duration
)

// A Question asks about one observation, about the items of a group, or how long the
// patient has had a symptom.
type Question struct {
	Type                  QuestionType
	Text, TextThirdPerson string
	// Items lists the observations to ask about, in display order: one for Single, none
	// for Duration.
	Items []model.ObservationIndex
	// Group is the group to ask about, or model.None for Single and Duration.
	Group model.GroupIndex
	// Symptom is the symptom whose duration is asked, or model.None for the other types.
	Symptom model.ObservationIndex
}

// isAskable reports whether an observation can be asked: it is open, and its parent is
// present.
func (s *scratch) isAskable(observation model.ObservationIndex) bool {
	parent := s.r.Observations[observation].Parent
	return s.isOpen(observation) && (parent == model.None || s.state[parent] == statePresent)
}

// isOpen reports whether an observation has a question for patients, applies to this
// patient, and is unknown.
func (s *scratch) isOpen(observation model.ObservationIndex) bool {
	o := &s.r.Observations[observation]
	return s.state[observation] == stateUnknown && o.Question.Length > 0 && o.Kind != model.LabResult && s.p.isApplicable(o) && !isClientProvided(o)
}

// isClientProvided reports whether an observation is a risk factor that clients send
// before the interview: the patient's place of residence and body mass index.
func isClientProvided(o *model.Observation) bool {
	if o.Kind != model.RiskFactor {
		return false
	}
	switch o.Number {
	case 6, 7, 13, 14, 15, 16, 17, 18, 19, 20, 21, 236:
		return true
	}
	return false
}

// markAskedGroups marks the groups that were already asked about: the interview has an
// answer to one of their items.
func (s *scratch) markAskedGroups(o Options) {
	for i := range s.p.findings {
		f := &s.p.findings[i]
		group := s.r.Observations[f.observation].Group
		if group != model.None && f.reported && f.source == SourceUnspecified && !o.DisableGroups {
			s.seenGroups[group] = true
		}
	}
}

// buildQuestion converts a candidate to a Question. If only one item of a group is
// left, the question is about that observation alone.
func (s *scratch) buildQuestion(c candidate) *Question {
	if c.asksDuration {
		return s.durationQuestion(c.observation)
	}
	if c.group == model.None {
		return s.singleQuestion(c.observation)
	}
	g := &s.r.Groups[c.group]
	q := &Question{
		Type: GroupMultiple, Group: c.group, Symptom: model.None, Items: make([]model.ObservationIndex, 0, g.Items.Len()),
		Text: s.r.Text(g.Question), TextThirdPerson: s.r.Text(g.QuestionThirdPerson),
	}
	if g.Type == model.GroupSingle {
		q.Type = GroupSingle
	}
	for _, item := range s.groupItems(c.group) {
		if s.isAskable(item) {
			q.Items = append(q.Items, item)
		}
	}
	if q.Type == GroupMultiple {
		q.Items = s.informativeItems(q.Items)
	}
	if len(q.Items) == 1 {
		return s.singleQuestion(q.Items[0])
	}
	return q
}

// minRelativeGain is the minimum information gain of a group item, relative to the best
// item, for inclusion in the same question. It avoids long lists with a single relevant
// line.
const minRelativeGain = 0.2

// informativeItems returns the items of a group with enough information, and the
// mandatory items.
func (s *scratch) informativeItems(items []model.ObservationIndex) []model.ObservationIndex {
	best := 0.0
	for _, item := range items {
		best = max(best, s.singleGain(item))
	}
	return slices.DeleteFunc(items, func(item model.ObservationIndex) bool {
		return s.singleGain(item) < minRelativeGain*best && !s.isMandatory(item)
	})
}

// isMandatory reports whether an observation must be asked before the interview stops.
func (s *scratch) isMandatory(o model.ObservationIndex) bool {
	s.fillAnswers(o)
	return s.raisesLevel(o) && s.dangerProbability(s.answerProbabilities) >= minRemainingDanger || s.inherentEmergencyProbability(o, s.yesProbability(s.answerProbabilities)) >= minRemainingEmergency
}

func (s *scratch) singleQuestion(observation model.ObservationIndex) *Question {
	o := &s.r.Observations[observation]
	return &Question{
		Type: Single, Group: model.None, Symptom: model.None, Items: []model.ObservationIndex{observation},
		Text: s.r.Text(o.Question), TextThirdPerson: s.r.Text(o.QuestionThirdPerson),
	}
}
