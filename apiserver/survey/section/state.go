// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// A State is a survey with the answers so far, and its environment.
type State struct {
	Env
	Survey *record.Survey
	// Steps are the answered steps only.
	Steps []record.Step
}

// AnswerTo returns the answer to a question, or the zero Answer if it was not asked.
func (state *State) AnswerTo(question string) record.Answer {
	if step := state.stepFor(question); step != nil {
		return step.Answer
	}
	return record.Answer{}
}

func (state *State) stepFor(question string) *record.Step {
	for i := range state.Steps {
		if state.Steps[i].Question.ID == question {
			return &state.Steps[i]
		}
	}
	return nil
}

// wasAsked reports whether a question was asked, and answered or skipped.
func (state *State) wasAsked(question string) bool { return state.stepFor(question) != nil }

// StepsIn returns the steps of a section.
func (state *State) StepsIn(section string) []record.Step {
	var steps []record.Step
	for _, step := range state.Steps {
		if step.Question.Section == section {
			steps = append(steps, step)
		}
	}
	return steps
}

// Sex returns the patient's sex, female or male, either known at the start of the survey or
// answered. It is empty if unknown.
func (state *State) Sex() string {
	if state.Survey.Sex == "" {
		if answer := state.AnswerTo(sexQuestion); answer.Kind == record.KindItem {
			return answer.Items[0].ID
		}
	}
	return state.Survey.Sex
}

// Age returns the patient's age, either known at the start of the survey or answered.
func (state *State) Age() record.Age {
	if state.Survey.Age.Known() {
		return state.Survey.Age
	}
	return state.answeredAge()
}

// buildPatient returns the patient with all known evidence as input for the engine. The
// result full reports whether the evidence exceeds the limits of the engine.
func (state *State) buildPatient() (patient inference.Patient, full bool, err error) {
	sex, err := model.ParseSex(state.Sex())
	if err != nil || !state.Age().Known() {
		return patient, false, fmt.Errorf("assessing the patient of a survey: sex and age are unknown")
	}
	reported, full := state.reportedEvidence()
	if patient, err = inference.NewPatient(state.Release, sex, state.Age().Months(), reported); err != nil {
		return patient, false, fmt.Errorf("assessing the patient of a survey: %w", err)
	}
	return patient, full, nil
}

// Patient returns the patient with all known evidence as input for the engine, and the
// evidence used.
func (state *State) Patient() (inference.Patient, []inference.ReportedEvidence, error) {
	patient, _, err := state.buildPatient()
	reported, _ := state.reportedEvidence()
	return patient, reported, err
}

// newQuestion returns a question of a section with its wording from the catalog. The wording
// addresses the patient or, for a dependent, another person who answers.
func (state *State) newQuestion(section, id string, answers record.AnswerType, meta record.Meta) *record.Question {
	return &record.Question{
		ID: id, Section: section, Index: len(state.Steps), Text: state.Texts.Text(textID(id, state.Survey.Dependent)), AnswerType: answers, Meta: meta,
	}
}

// sourceList returns a knowledge list, filtered for the patient.
func (state *State) sourceList(name string) *record.SourceList {
	return &record.SourceList{Name: name, Sex: state.Sex(), Age: state.Age(), Language: state.Survey.Language}
}

// options returns the options of a question, in the given order.
func (state *State) options(question string, ids []string) []record.Option {
	options := make([]record.Option, len(ids))
	for i, id := range ids {
		options[i] = record.Option{ID: id, Label: state.Texts.Text(labelID(question, id))}
	}
	return options
}
