// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// QuestionType says how a question is answered.
type QuestionType uint8

// The types of questions: one observation; one item of a group; each item of a
// group; how long the patient has had a symptom.
const (
	Single QuestionType = iota
	GroupSingle
	GroupMultiple
	AskDuration
)

// A Question asks about one observation, about the items of a group, or how
// long the patient has had a symptom.
type Question struct {
	Type                  QuestionType
	Text, TextThirdPerson string
	// Items are what is asked, in the order to show; one for Single, none for
	// AskDuration.
	Items []model.ObservationIndex
	// Group is the group that is asked, model.None for Single and AskDuration.
	Group model.GroupIndex
	// Evidence is the symptom whose duration is asked, model.None for the
	// other types.
	Evidence model.ObservationIndex
}

// askable reports whether an observation can be asked: it is open, and its
// parent is present.
func (s *scratch) askable(observation model.ObservationIndex) bool {
	parent := s.r.Observations[observation].Parent
	return s.open(observation) && (parent == model.None || s.known[parent] == knownPresent)
}

// open reports whether patients can answer about an observation, it applies to
// them, and nothing is known about it.
func (s *scratch) open(observation model.ObservationIndex) bool {
	o := &s.r.Observations[observation]
	return s.known[observation] == nothingKnown && o.Question.Length > 0 && o.Kind != model.LabResult && s.p.admits(o) && !givenOutside(o)
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

// question puts a candidate into words. When only one item of a group is left,
// it is asked as that item.
func (s *scratch) question(c candidate) *Question {
	if c.duration {
		return s.durationQuestion(c.observation)
	}
	if c.group == model.None {
		return s.singleQuestion(c.observation)
	}
	g := &s.r.Groups[c.group]
	q := &Question{
		Type: GroupMultiple, Group: c.group, Evidence: model.None, Items: make([]model.ObservationIndex, 0, g.Items.Len()),
		Text: s.r.Text(g.Question), TextThirdPerson: s.r.Text(g.QuestionThirdPerson),
	}
	if g.Type == model.GroupSingle {
		q.Type = GroupSingle
	}
	for _, item := range s.items(c.group) {
		if s.askable(item) {
			q.Items = append(q.Items, item)
		}
	}
	if q.Type == GroupMultiple {
		q.Items = s.worthAsking(q.Items)
	}
	if len(q.Items) == 1 {
		return s.singleQuestion(q.Items[0])
	}
	return q
}

// leastOfBest is how much of what the best item of a group tells another one
// must tell to be asked with it. Nobody likes to read a list for one of its
// lines.
const leastOfBest = 0.2

// worthAsking keeps the items of a group that tell enough, and those that an
// interview does not stop without.
func (s *scratch) worthAsking(items []model.ObservationIndex) []model.ObservationIndex {
	best := 0.0
	for _, item := range items {
		best = max(best, s.gainAlone(item))
	}
	return slices.DeleteFunc(items, func(item model.ObservationIndex) bool {
		return s.gainAlone(item) < leastOfBest*best && !s.pressing(item)
	})
}

// pressing reports whether an interview does not stop before an observation was
// asked.
func (s *scratch) pressing(o model.ObservationIndex) bool {
	s.answers(o)
	return s.raisesLevel(o) && s.danger(s.answer) >= dangerLeft || s.emergencyItself(o, s.yes(s.answer)) >= emergencyLeft
}

func (s *scratch) singleQuestion(observation model.ObservationIndex) *Question {
	o := &s.r.Observations[observation]
	return &Question{
		Type: Single, Group: model.None, Evidence: model.None, Items: []model.ObservationIndex{observation},
		Text: s.r.Text(o.Question), TextThirdPerson: s.r.Text(o.QuestionThirdPerson),
	}
}
