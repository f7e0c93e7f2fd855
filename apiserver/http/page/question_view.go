// SPDX-License-Identifier: Apache-2.0

package page

import (
	"strconv"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
)

// A questionView is the template data of a question.
type questionView struct {
	*record.Question
	*draft
	Path     string // form action
	Before   string // path of the previous question; empty for the first
	Kind     string // which form to render
	Part, Of string // number of the section and number of sections
	Current  bool   // whether this is the current question rather than an answered one
	Rows     []row
	Value    string // prefilled value
	List     string // name of the knowledge list
	Freely   bool   // whether the list accepts free text
}

// A row is an option with its selection state.
type row struct {
	ID, Field, Label string
	Value            string // of a checkbox or button
	Ticked           bool
	Choices          []row // of an item in a group question with multiple answers
}

// newQuestionView returns the template data of a question.
func (h *handlers) newQuestionView(surveyView *flow.View, step *record.Step, d *draft) questionView {
	q, path := &step.Question, pathForSurvey(surveyView.Survey.ID)
	number, total := sectionPosition(&surveyView.Survey, q.Section)
	view := questionView{
		Question: q, draft: d, Path: questionPath(path, q.Index), Kind: questionKind(q), Rows: newRows(q, d), Value: d.Form.Get(answerField),
		Part: strconv.Itoa(number), Of: strconv.Itoa(total), Current: step.Answer.IsZero(),
	}
	if q.Index > 0 {
		view.Before = questionPath(path, q.Index-1)
	}
	if list := q.Meta.SourceList; list != nil {
		view.List, view.Freely = list.Name, list.Name == record.SymptomList
	}
	return view
}

// questionKind returns the kind of form for a question.
func questionKind(q *record.Question) string {
	if q.AnswerType == record.AnswerSymptoms {
		return string(q.Meta.Component)
	}
	return string(q.AnswerType)
}

// newRows returns the options of a form without a knowledge list.
func newRows(q *record.Question, d *draft) []row {
	switch questionKind(q) {
	case string(record.ComponentSingle):
		return radios(answerField, q.Meta.Choices, d.Form.Get(answerField))
	case string(record.ComponentGroupMultiple):
		rows := make([]row, len(q.Meta.Options))
		for i, option := range q.Meta.Options {
			field := itemFieldPrefix + option.ID
			rows[i] = row{ID: field, Field: field, Label: option.Label, Choices: radios(field, q.Meta.Choices, d.Form.Get(field))}
		}
		return rows
	case string(record.AnswerChoice), string(record.ComponentGroupSingle):
		return radios(answerField, q.Meta.Options, d.Form.Get(answerField))
	case string(record.AnswerMultipleChoice):
		return checkboxes(q.Meta.Options, d.Form[answerField])
	}
	return nil
}

func radios(field string, options []record.Option, chosen string) []row {
	rows := make([]row, len(options))
	for i, option := range options {
		rows[i] = row{ID: fieldID(field, i), Field: field, Label: option.Label, Value: option.ID, Ticked: option.ID == chosen}
	}
	return rows
}

func checkboxes(options []record.Option, chosen []string) []row {
	rows := make([]row, len(options))
	for i, option := range options {
		rows[i] = row{ID: fieldID(answerField, i), Field: answerField, Label: option.Label, Value: option.ID}
		for _, id := range chosen {
			rows[i].Ticked = rows[i].Ticked || id == option.ID
		}
	}
	return rows
}

// fieldID returns the ID of an option's field. The first option has the ID of the field
// itself, so that error messages can link to it.
func fieldID(field string, position int) string {
	if position == 0 {
		return field
	}
	return field + "-" + strconv.Itoa(position+1)
}

// audienceFor returns the audience of a survey's pages: the patient, a parent, or another
// person who answers.
func audienceFor(s *record.Survey, age record.Age) string {
	const adult = 18 * 12
	switch {
	case !s.Dependent:
		return "you"
	case age.Known() && age.Months() < adult:
		return "child"
	}
	return "other"
}
