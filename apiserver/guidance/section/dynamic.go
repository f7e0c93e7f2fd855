// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// groupPrefix stands before the id of the first item of a group, in the id of a
// question about the group.
const groupPrefix = "group_"

// dynamic is an interview of the engine: it asks what /v3/diagnosis would for the
// same evidence, in its default mode, and stops where that says to. It does not ask
// how long there has been a symptom.
type dynamic struct{}

// Name implements Section.
func (dynamic) Name() string { return Dynamic }

// Asks implements Section.
func (dynamic) Asks() map[string][]string { return nil }

// Needs implements Section.
func (dynamic) Needs() bool { return true }

// Next implements Section.
func (dynamic) Next(c *Case) (*guidance.Question, error) {
	patient, full, err := c.patient()
	if err != nil || full { // who has it all need not be asked for more
		return nil, err
	}
	found := c.Engine.Assess(c.Release, patient, engine.Options{})
	if found.Question == nil || found.ShouldStopKnown && found.ShouldStop {
		return nil, nil
	}
	return c.describe(found.Question), nil
}

// describe words a question of the engine.
func (c *Case) describe(asked *engine.Question) *guidance.Question {
	text := asked.Text
	if c.Survey.Dependent {
		text = asked.TextThirdPerson
	}
	options := make([]guidance.Option, len(asked.Items))
	for i, o := range asked.Items {
		options[i] = guidance.Option{ID: c.Release.ObservationID(o), Label: strings.Clone(assessment.ItemName(c.Release, o))}
	}
	id := options[0].ID
	if asked.Type != engine.Single {
		id = groupPrefix + id
	}
	return &guidance.Question{
		ID: id, Section: Dynamic, Index: len(c.Steps), Text: strings.Clone(text), AnswerType: guidance.Symptoms,
		Meta: guidance.Meta{
			Required: true, Component: guidance.Component(assessment.TypeOf(asked)), Options: options, Choices: choicesOf(c.Release),
		},
	}
}

// Evidence implements Section.
func (dynamic) Evidence(c *Case) []guidance.Evidence {
	steps := c.Of(Dynamic)
	evidence := make([]guidance.Evidence, 0, len(steps))
	for _, step := range steps {
		evidence = append(evidence, answered(&step)...)
	}
	return evidence
}

// answered is the evidence of an answer to a question of the interview. It has no
// source. Of a group that was left without a word all items get the one that the
// empty list stands for: none of them, or not known. What was left out of
// several that may all hold is not known.
func answered(step *guidance.Step) []guidance.Evidence {
	left := guidance.Unknown
	if step.Question.Meta.Component == guidance.GroupSingle {
		left = guidance.Absent
		if len(step.Answer.Items) > 0 {
			left = "" // one that was chosen settles the others
		}
	}
	evidence := make([]guidance.Evidence, 0, len(step.Question.Meta.Options))
	for _, option := range step.Question.Meta.Options {
		choice := left
		if i := slices.IndexFunc(step.Answer.Items, func(item guidance.Item) bool { return item.ID == option.ID }); i >= 0 {
			choice = step.Answer.Items[i].ChoiceID
		}
		if choice != "" {
			evidence = append(evidence, guidance.Evidence{ID: option.ID, ChoiceID: choice})
		}
	}
	return evidence
}
