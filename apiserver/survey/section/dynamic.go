// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// groupIDPrefix precedes the ID of a group's first item in the ID of a question about
// the group.
const groupIDPrefix = "group_"

// dynamic is an interview by the inference engine: it asks what /v3/diagnosis would
// ask for the same evidence in its default mode, and stops when /v3/diagnosis says to
// stop. It does not ask for the duration of symptoms.
type dynamic struct{}

// Name implements Section.
func (dynamic) Name() string { return Dynamic }

// Questions implements Section.
func (dynamic) Questions() map[string][]string { return nil }

// NeedsDemographics implements Section.
func (dynamic) NeedsDemographics() bool { return true }

// Next implements Section.
func (dynamic) Next(c *State) (*record.Question, error) {
	patient, full, err := c.buildPatient()
	if err != nil || full { // with the evidence at its limit, more questions add nothing
		return nil, err
	}
	found := c.Engine.Assess(c.Release, patient, inference.Options{})
	if found.Question == nil || found.ShouldStopKnown && found.ShouldStop {
		return nil, nil
	}
	return c.newInterviewQuestion(found.Question), nil
}

// newInterviewQuestion returns the survey question for a question of the engine.
func (c *State) newInterviewQuestion(asked *inference.Question) *record.Question {
	text := asked.Text
	if c.Survey.Dependent {
		text = c.withPronouns(asked.TextThirdPerson)
	}
	options := make([]record.Option, len(asked.Items))
	for i, o := range asked.Items {
		options[i] = record.Option{ID: c.Release.ObservationID(o), Label: strings.Clone(assessment.ItemName(c.Release, o))}
	}
	id := options[0].ID
	if asked.Type != inference.Single {
		id = groupIDPrefix + id
	}
	return &record.Question{
		ID: id, Section: Dynamic, Index: len(c.Steps), Text: strings.Clone(text), AnswerType: record.AnswerSymptoms,
		Meta: record.Meta{
			Required: true, Component: record.Component(assessment.QuestionTypeFor(asked)), Options: options, Choices: choiceOptions(c.Release),
		},
	}
}

// Evidence implements Section.
func (dynamic) Evidence(c *State) []record.Evidence {
	steps := c.StepsIn(Dynamic)
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
	left := record.ChoiceUnknown
	if step.Question.Meta.Component == record.ComponentGroupSingle {
		left = record.ChoiceAbsent
		if len(step.Answer.Items) > 0 {
			left = "" // a selected item settles the others
		}
	}
	evidence := make([]record.Evidence, 0, len(step.Question.Meta.Options))
	for _, option := range step.Question.Meta.Options {
		choice := left
		if i := slices.IndexFunc(step.Answer.Items, func(item record.Item) bool { return item.ID == option.ID }); i >= 0 {
			choice = step.Answer.Items[i].ChoiceID
		}
		if choice != "" {
			evidence = append(evidence, record.Evidence{ID: option.ID, ChoiceID: choice})
		}
	}
	return evidence
}
