// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// groupIDPrefix and the ID of a group's first item form the ID of a question about the group.
const groupIDPrefix = "group_"

// dynamic is an interview conducted by the inference engine. It asks the questions that
// /v3/diagnosis would ask for the same evidence in its default mode, and stops when
// /v3/diagnosis signals to stop. It does not ask for the duration of symptoms.
type dynamic struct{}

// Name implements Section.
func (dynamic) Name() string { return Dynamic }

// Questions implements Section.
func (dynamic) Questions() map[string][]string { return nil }

// NeedsDemographics implements Section.
func (dynamic) NeedsDemographics() bool { return true }

// Next implements Section.
func (dynamic) Next(state *State) (*record.Question, error) {
	patient, full, err := state.buildPatient()
	if err != nil || full { // once the evidence reaches its limit, further questions are useless
		return nil, err
	}
	result := state.Engine.Assess(state.Release, patient, inference.Options{})
	if result.Question == nil || result.ShouldStopKnown && result.ShouldStop {
		return nil, nil
	}
	return state.newInterviewQuestion(result.Question), nil
}

// newInterviewQuestion converts a question of the engine to a survey question.
func (state *State) newInterviewQuestion(asked *inference.Question) *record.Question {
	text := asked.Text
	if state.Survey.Dependent {
		text = state.withPronouns(asked.TextThirdPerson)
	}
	options := make([]record.Option, len(asked.Items))
	for i, o := range asked.Items {
		options[i] = record.Option{ID: state.Release.ObservationID(o), Label: strings.Clone(assessment.ItemName(state.Release, o))}
	}
	id := options[0].ID
	if asked.Type != inference.Single {
		id = groupIDPrefix + id
	}
	return &record.Question{
		ID: id, Section: Dynamic, Index: len(state.Steps), Text: strings.Clone(text), AnswerType: record.AnswerSymptoms,
		Meta: record.Meta{
			Required: true, Component: record.Component(assessment.QuestionTypeFor(asked)), Options: options, Choices: choiceOptions(state.Release),
		},
	}
}

// Evidence implements Section.
func (dynamic) Evidence(state *State) []record.Evidence {
	steps := state.StepsIn(Dynamic)
	evidence := make([]record.Evidence, 0, len(steps))
	for _, step := range steps {
		evidence = append(evidence, interviewEvidence(&step)...)
	}
	return evidence
}

// interviewEvidence returns the evidence from the answer to an interview question. It
// has no source. In a single-choice group without a selection, all items are absent;
// with a selection, the other items yield no evidence. Items omitted from any other
// question are unknown.
func interviewEvidence(step *record.Step) []record.Evidence {
	defaultChoice := record.ChoiceUnknown
	if step.Question.Meta.Component == record.ComponentGroupSingle {
		defaultChoice = record.ChoiceAbsent
		if len(step.Answer.Items) > 0 {
			defaultChoice = "" // a selected item excludes the others
		}
	}
	evidence := make([]record.Evidence, 0, len(step.Question.Meta.Options))
	for _, option := range step.Question.Meta.Options {
		choice := defaultChoice
		if i := slices.IndexFunc(step.Answer.Items, func(item record.Item) bool { return item.ID == option.ID }); i >= 0 {
			choice = step.Answer.Items[i].ChoiceID
		}
		if choice != "" {
			evidence = append(evidence, record.Evidence{ID: option.ID, ChoiceID: choice})
		}
	}
	return evidence
}
