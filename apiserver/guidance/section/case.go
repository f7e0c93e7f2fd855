// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A Case is a survey, what was answered so far, and the world in which to go on.
type Case struct {
	World
	Survey *guidance.Survey
	// Steps are the answered ones only.
	Steps []guidance.Step
}

// Answer is what was given to a question, the zero Answer when it was not asked.
func (c *Case) Answer(question string) guidance.Answer {
	if step := c.step(question); step != nil {
		return step.Answer
	}
	return guidance.Answer{}
}

func (c *Case) step(question string) *guidance.Step {
	for i := range c.Steps {
		if c.Steps[i].Question.ID == question {
			return &c.Steps[i]
		}
	}
	return nil
}

// asked reports whether a question was asked, and answered or skipped.
func (c *Case) asked(question string) bool { return c.step(question) != nil }

// Of are the steps of a section.
func (c *Case) Of(section string) []guidance.Step {
	var steps []guidance.Step
	for _, step := range c.Steps {
		if step.Question.Section == section {
			steps = append(steps, step)
		}
	}
	return steps
}

// Sex is the patient's, female or male: as it was known when the survey began, or
// as it was answered; empty when it is not known.
func (c *Case) Sex() string {
	if c.Survey.Sex == "" {
		if answer := c.Answer(sexQuestion); answer.Form == guidance.OneItem {
			return answer.Items[0].ID
		}
	}
	return c.Survey.Sex
}

// Age is the patient's, as it was known when the survey began, or as it was
// answered.
func (c *Case) Age() guidance.Age {
	if c.Survey.Age.Known() {
		return c.Survey.Age
	}
	return c.answeredAge()
}

// patient is the patient with all that is known, as the engine takes it. Full says
// that there is more than the engine takes.
func (c *Case) patient() (p engine.Patient, full bool, err error) {
	sex, err := model.ParseSex(c.Sex())
	if err != nil || !c.Age().Known() {
		return p, false, fmt.Errorf("assessing the patient of a survey: sex and age are not known")
	}
	reported, full := c.reported()
	if p, err = engine.NewPatient(c.Release, sex, c.Age().Months(), reported); err != nil {
		return p, false, fmt.Errorf("assessing the patient of a survey: %w", err)
	}
	return p, full, nil
}

// Patient is the patient with all that is known, as the engine takes it, and the
// evidence that was used.
func (c *Case) Patient() (engine.Patient, []engine.ReportedEvidence, error) {
	p, _, err := c.patient()
	reported, _ := c.reported()
	return p, reported, err
}

// question is one of a section with words of ours, about the patient or, to a
// parent or a carer, about somebody else.
func (c *Case) question(section, id string, answers guidance.AnswerType, meta guidance.Meta) *guidance.Question {
	return &guidance.Question{
		ID: id, Section: section, Index: len(c.Steps), Text: c.Words.text(id, c.Survey.Dependent), AnswerType: answers, Meta: meta,
	}
}

// sourceList is a knowledge list as it is for the patient.
func (c *Case) sourceList(name string) *guidance.SourceList {
	return &guidance.SourceList{Name: name, Sex: c.Sex(), Age: c.Age(), Language: c.Survey.Language}
}

// options are the answers of a question, in the order given.
func (c *Case) options(question string, ids []string) []guidance.Option {
	options := make([]guidance.Option, len(ids))
	for i, id := range ids {
		options[i] = guidance.Option{ID: id, Label: c.Words.answer(question, id)}
	}
	return options
}
