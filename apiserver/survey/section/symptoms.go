// SPDX-License-Identifier: Apache-2.0

package section

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// newSymptoms is the ID of the follow-up question about new symptoms.
const newSymptoms = "new_symptoms"

// symptoms asks for the patient's complaints. Evidence submitted at creation replaces
// the answer, or is shown to the patient for confirmation. A follow-up asks about each
// earlier symptom again, and then for new ones.
type symptoms struct{}

// Name implements Section.
func (symptoms) Name() string { return Symptoms }

// Questions implements Section.
func (symptoms) Questions() map[string][]string {
	return map[string][]string{Symptoms: nil, newSymptoms: nil}
}

// NeedsDemographics implements Section.
func (symptoms) NeedsDemographics() bool { return true }

// Next implements Section.
func (symptoms) Next(c *State) (*record.Question, error) {
	if c.Survey.Type == record.TypeFollowUp {
		return c.nextFollowUpQuestion(), nil
	}
	if c.wasAsked(Symptoms) {
		return nil, nil
	}
	question := c.newQuestion(Symptoms, Symptoms, record.AnswerList, record.Meta{Required: true, SourceList: c.sourceList(record.SymptomList)})
	if c.hasPrefilledSymptom() {
		if !c.Features.PrefillConfirmation {
			return nil, nil
		}
		question.Selected = c.prefilledItems()
	}
	return question, nil
}

// hasPrefilledSymptom reports whether a symptom that can apply to the patient was
// submitted at creation.
func (c *State) hasPrefilledSymptom() bool {
	for _, evidence := range c.Survey.Evidence {
		o, ok := c.Release.ObservationByID(evidence.ID)
		if ok && evidence.ChoiceID == record.ChoicePresent && c.isSymptom(o) && Applies(c.Release, o, c.Sex(), c.Age()) {
			return true
		}
	}
	return false
}

func (c *State) isSymptom(o model.ObservationIndex) bool {
	return c.Release.Observations[o].Kind == model.Symptom
}

// prefilledItems returns the list items that were submitted at creation.
func (c *State) prefilledItems() []record.Item {
	var items []record.Item
	list := *c.sourceList(record.SymptomList)
	for _, evidence := range c.Survey.Evidence {
		if found, ok := c.Lists.Find(list, evidence.ID); ok {
			items = append(items, record.Item{ID: evidence.ID, Name: found.Name, ChoiceID: evidence.ChoiceID})
		}
	}
	return items
}

// nextFollowUpQuestion asks about the earlier symptoms one at a time, and then for new
// ones.
func (c *State) nextFollowUpQuestion() *record.Question {
	for _, earlier := range c.priorEvidence() {
		o, ok := c.Release.ObservationByID(earlier.ID)
		if ok && c.shouldReask(o, earlier) && !c.wasAsked(earlier.ID) {
			return c.newReaskQuestion(o, earlier.ID)
		}
	}
	if c.wasAsked(newSymptoms) {
		return nil
	}
	return c.newQuestion(Symptoms, newSymptoms, record.AnswerList, record.Meta{SourceList: c.sourceList(record.SymptomList)})
}

// priorEvidence returns the evidence a follow-up starts from: the evidence submitted
// at creation or, if missing, the evidence of the prior survey.
func (c *State) priorEvidence() []record.Evidence {
	if len(c.Survey.Evidence) > 0 {
		return c.Survey.Evidence
	}
	return c.Survey.CarriedOver
}

// shouldReask reports whether a follow-up asks about an earlier observation again.
func (c *State) shouldReask(o model.ObservationIndex, earlier record.Evidence) bool {
	return earlier.ChoiceID == record.ChoicePresent && c.isSymptom(o) &&
		c.Release.Observations[o].Question.Length > 0 && Applies(c.Release, o, c.Sex(), c.Age())
}

// newReaskQuestion returns a question about a single observation.
func (c *State) newReaskQuestion(o model.ObservationIndex, id string) *record.Question {
	observation := &c.Release.Observations[o]
	text := c.Release.Text(observation.Question)
	if c.Survey.Dependent {
		text = c.withPronouns(c.Release.Text(observation.QuestionThirdPerson))
	}
	return &record.Question{
		ID: id, Section: Symptoms, Index: len(c.Steps), Text: strings.Clone(text), AnswerType: record.AnswerSymptoms,
		Meta: record.Meta{
			Required: true, Component: record.ComponentSingle, Choices: choiceOptions(c.Release),
			Options: []record.Option{{ID: id, Label: strings.Clone(assessment.ItemName(c.Release, o))}},
		},
	}
}

// choiceOptions returns the possible answers to each item, worded by the release.
func choiceOptions(r *model.Release) []record.Option {
	offered := assessment.Choices(r)
	choices := make([]record.Option, len(offered))
	for i, choice := range offered {
		choices[i] = record.Option{ID: choice.ID, Label: strings.Clone(choice.Label)}
	}
	return choices
}

// Evidence implements Section.
func (symptoms) Evidence(c *State) []record.Evidence {
	var evidence []record.Evidence
	if c.Survey.Type == record.TypeFollowUp {
		evidence = c.carriedOverRiskFactors()
	} else if step := c.stepFor(Symptoms); step == nil || step.Question.Selected == nil {
		evidence = append(evidence, c.Survey.Evidence...) // no confirmation was asked for
	}
	for _, step := range c.StepsIn(Symptoms) {
		for _, item := range step.Answer.Items {
			evidence = append(evidence, record.Evidence{ID: item.ID, ChoiceID: item.ChoiceID, Source: record.SourceInitial})
		}
	}
	return evidence
}

// carriedOverRiskFactors returns the risk factors that a follow-up does not ask about
// again.
func (c *State) carriedOverRiskFactors() []record.Evidence {
	var evidence []record.Evidence
	for _, earlier := range c.priorEvidence() {
		if strings.HasPrefix(earlier.ID, model.RiskFactorPrefix) {
			evidence = append(evidence, record.Evidence{ID: earlier.ID, ChoiceID: earlier.ChoiceID, Source: record.SourcePredefined})
		}
	}
	return evidence
}
