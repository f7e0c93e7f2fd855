// SPDX-License-Identifier: Apache-2.0

package page

import (
	"strconv"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
)

// A questionView is a question as its template shows it.
type questionView struct {
	*guidance.Question
	*draft
	Path     string // where the form goes
	Before   string // where the question before is; empty for the first
	Kind     string // which of the forms it has
	Part, Of string // which part of the survey it is in, and of how many
	Current  bool   // whether it is the one that is asked, and not one that was answered
	Rows     []row
	Value    string // what is filled in
	List     string // the name of a knowledge list
	Freely   bool   // whether the list takes one's own words
}

// A row is something to choose, with what is chosen of it.
type row struct {
	ID, Field, Label string
	Value            string // of a box or a button
	Ticked           bool
	Choices          []row // of an item of a group of which several may hold
}

// questionOf prepares a question for its template.
func (h *handlers) questionOf(sight *survey.Sight, step *guidance.Step, d *draft) questionView {
	q, path := &step.Question, pathOf(sight.Survey.ID)
	number, of := part(&sight.Survey, q.Section)
	view := questionView{
		Question: q, draft: d, Path: questionPath(path, q.Index), Kind: kindOf(q), Rows: rowsOf(q, d), Value: d.Form.Get(answerField),
		Part: strconv.Itoa(number), Of: strconv.Itoa(of), Current: step.Answer.IsZero(),
	}
	if q.Index > 0 {
		view.Before = questionPath(path, q.Index-1)
	}
	if list := q.Meta.SourceList; list != nil {
		view.List, view.Freely = list.Name, list.Name == guidance.SymptomList
	}
	return view
}

// kindOf is which of the forms a question has.
func kindOf(q *guidance.Question) string {
	if q.AnswerType == guidance.Symptoms {
		return string(q.Meta.Component)
	}
	return string(q.AnswerType)
}

// rowsOf is what can be chosen in a form that has no list.
func rowsOf(q *guidance.Question, d *draft) []row {
	switch kindOf(q) {
	case string(guidance.Single):
		return radios(answerField, q.Meta.Choices, d.Form.Get(answerField))
	case string(guidance.GroupMultiple):
		rows := make([]row, len(q.Meta.Options))
		for i, option := range q.Meta.Options {
			field := itemField + option.ID
			rows[i] = row{ID: field, Field: field, Label: option.Label, Choices: radios(field, q.Meta.Choices, d.Form.Get(field))}
		}
		return rows
	case string(guidance.Choice), string(guidance.GroupSingle):
		return radios(answerField, q.Meta.Options, d.Form.Get(answerField))
	case string(guidance.MultipleChoice):
		return boxes(q.Meta.Options, d.Form[answerField])
	}
	return nil
}

func radios(field string, options []guidance.Option, chosen string) []row {
	rows := make([]row, len(options))
	for i, option := range options {
		rows[i] = row{ID: fieldID(field, i), Field: field, Label: option.Label, Value: option.ID, Ticked: option.ID == chosen}
	}
	return rows
}

func boxes(options []guidance.Option, chosen []string) []row {
	rows := make([]row, len(options))
	for i, option := range options {
		rows[i] = row{ID: fieldID(answerField, i), Field: answerField, Label: option.Label, Value: option.ID}
		for _, id := range chosen {
			rows[i].Ticked = rows[i].Ticked || id == option.ID
		}
	}
	return rows
}

// fieldID is the id of the field for the choice at a position: the first has the name of
// the field itself, so that what is wrong with it can be linked.
func fieldID(field string, position int) string {
	if position == 0 {
		return field
	}
	return field + "-" + strconv.Itoa(position+1)
}

// whoOf is to whom the pages of a survey speak: the patient, a parent, or somebody else
// who answers.
func whoOf(s *guidance.Survey, age guidance.Age) string {
	const adult = 18 * 12
	switch {
	case !s.Dependent:
		return "you"
	case age.Known() && age.Months() < adult:
		return "child"
	}
	return "other"
}
