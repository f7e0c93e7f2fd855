// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// A State is a survey with the answers so far and the environment it continues in.
type State struct {
	Env
	Survey *record.Survey
	// Steps are the answered steps only.
	Steps []record.Step
}

// AnswerTo returns the answer to a question, or the zero Answer if it was not asked.
func (c *State) AnswerTo(question string) record.Answer {
	if step := c.stepFor(question); step != nil {
		return step.Answer
	}
	return record.Answer{}
}

func (c *State) stepFor(question string) *record.Step {
	for i := range c.Steps {
		if c.Steps[i].Question.ID == question {
			return &c.Steps[i]
		}
	}
	return nil
}

// wasAsked reports whether a question was asked, and answered or skipped.
func (c *State) wasAsked(question string) bool { return c.stepFor(question) != nil }

// StepsIn returns the steps of a section.
func (c *State) StepsIn(section string) []record.Step {
	var steps []record.Step
	for _, step := range c.Steps {
		if step.Question.Section == section {
			steps = append(steps, step)
		}
	}
	return steps
}

// Sex returns the patient's sex, female or male, as known at the start of the survey
// or as answered. It is empty if unknown.
func (c *State) Sex() string {
	if c.Survey.Sex == "" {
		if answer := c.AnswerTo(sexQuestion); answer.Kind == record.KindItem {
			return answer.Items[0].ID
		}
	}
	return c.Survey.Sex
}

// Age returns the patient's age as known at the start of the survey or as answered.
func (c *State) Age() record.Age {
	if c.Survey.Age.Known() {
		return c.Survey.Age
	}
	return c.answeredAge()
}

// buildPatient returns the patient with all known evidence, in the form that the
// engine takes. Full reports whether there is more evidence than the engine accepts.
func (c *State) buildPatient() (p inference.Patient, full bool, err error) {
	sex, err := model.ParseSex(c.Sex())
	if err != nil || !c.Age().Known() {
		return p, false, fmt.Errorf("assessing the patient of a survey: sex and age are unknown")
	}
	reported, full := c.reportedEvidence()
	if p, err = inference.NewPatient(c.Release, sex, c.Age().Months(), reported); err != nil {
		return p, false, fmt.Errorf("assessing the patient of a survey: %w", err)
	}
	return p, full, nil
}

// Patient returns the patient with all known evidence, in the form that the engine
// takes, and the evidence used.
func (c *State) Patient() (inference.Patient, []inference.ReportedEvidence, error) {
	p, _, err := c.buildPatient()
	reported, _ := c.reportedEvidence()
	return p, reported, err
}

// newQuestion returns a question of a section, worded by the catalog. The wording
// addresses the patient or, if the patient is a dependent, the person who answers.
func (c *State) newQuestion(section, id string, answers record.AnswerType, meta record.Meta) *record.Question {
	return &record.Question{
		ID: id, Section: section, Index: len(c.Steps), Text: c.Texts.Text(textID(id, c.Survey.Dependent)), AnswerType: answers, Meta: meta,
	}
}

// sourceList returns a knowledge list as filtered for the patient.
func (c *State) sourceList(name string) *record.SourceList {
	return &record.SourceList{Name: name, Sex: c.Sex(), Age: c.Age(), Language: c.Survey.Language}
}

// options returns the options of a question, in the given order.
func (c *State) options(question string, ids []string) []record.Option {
	options := make([]record.Option, len(ids))
	for i, id := range ids {
		options[i] = record.Option{ID: id, Label: c.Texts.Text(labelID(question, id))}
	}
	return options
}
