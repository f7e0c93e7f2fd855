// SPDX-License-Identifier: Apache-2.0

package section

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// newSymptoms is the question of a follow-up for what came since.
const newSymptoms = "new_symptoms"

// symptoms asks what brings the patient. What was given at creation stands for the
// answer, or is shown for the patient to confirm. A follow-up asks for each earlier
// symptom again, and then for new ones.
type symptoms struct{}

// Name implements Section.
func (symptoms) Name() string { return Symptoms }

// Asks implements Section.
func (symptoms) Asks() map[string][]string {
	return map[string][]string{Symptoms: nil, newSymptoms: nil}
}

// Needs implements Section.
func (symptoms) Needs() bool { return true }

// Next implements Section.
func (symptoms) Next(c *Case) (*guidance.Question, error) {
	if c.Survey.Type == guidance.FollowUp {
		return c.nextOfFollowUp(), nil
	}
	if c.asked(Symptoms) {
		return nil, nil
	}
	question := c.question(Symptoms, Symptoms, guidance.List, guidance.Meta{Required: true, SourceList: c.sourceList(guidance.SymptomList)})
	if c.hasPrefilledSymptom() {
		if !c.Features.PrefillConfirmation {
			return nil, nil
		}
		question.Selected = c.prefilledItems()
	}
	return question, nil
}

// hasPrefilledSymptom reports whether a symptom that can be the patient's was given
// at creation.
func (c *Case) hasPrefilledSymptom() bool {
	for _, evidence := range c.Survey.Evidence {
		o, ok := c.Release.ObservationByID(evidence.ID)
		if ok && evidence.ChoiceID == guidance.Present && c.isSymptom(o) && Applies(c.Release, o, c.Sex(), c.Age()) {
			return true
		}
	}
	return false
}

func (c *Case) isSymptom(o model.ObservationIndex) bool {
	return c.Release.Observations[o].Kind == model.Symptom
}

// prefilledItems are the items of the list that were given at creation.
func (c *Case) prefilledItems() []guidance.Item {
	var items []guidance.Item
	list := *c.sourceList(guidance.SymptomList)
	for _, evidence := range c.Survey.Evidence {
		if found, ok := c.Lists.Find(list, evidence.ID); ok {
			items = append(items, guidance.Item{ID: evidence.ID, Name: found.Name, ChoiceID: evidence.ChoiceID})
		}
	}
	return items
}

// nextOfFollowUp asks for the earlier symptoms, one by one, and then for new ones.
func (c *Case) nextOfFollowUp() *guidance.Question {
	for _, earlier := range c.earlier() {
		o, ok := c.Release.ObservationByID(earlier.ID)
		if ok && c.isReasked(o, earlier) && !c.asked(earlier.ID) {
			return c.askAgain(o, earlier.ID)
		}
	}
	if c.asked(newSymptoms) {
		return nil
	}
	return c.question(Symptoms, newSymptoms, guidance.List, guidance.Meta{SourceList: c.sourceList(guidance.SymptomList)})
}

// earlier is what a follow-up begins with: what was given at creation, or else what
// the survey before came to know.
func (c *Case) earlier() []guidance.Evidence {
	if len(c.Survey.Evidence) > 0 {
		return c.Survey.Evidence
	}
	return c.Survey.TakenOver
}

// isReasked reports whether a follow-up asks for an earlier observation again.
func (c *Case) isReasked(o model.ObservationIndex, earlier guidance.Evidence) bool {
	return earlier.ChoiceID == guidance.Present && c.isSymptom(o) &&
		c.Release.Observations[o].Question.Length > 0 && Applies(c.Release, o, c.Sex(), c.Age())
}

// askAgain asks for one observation by itself.
func (c *Case) askAgain(o model.ObservationIndex, id string) *guidance.Question {
	observation := &c.Release.Observations[o]
	text := observation.Question
	if c.Survey.Dependent {
		text = observation.QuestionThirdPerson
	}
	return &guidance.Question{
		ID: id, Section: Symptoms, Index: len(c.Steps), Text: strings.Clone(c.Release.Text(text)), AnswerType: guidance.Symptoms,
		Meta: guidance.Meta{
			Required: true, Component: guidance.Single, Choices: choicesOf(c.Release),
			Options: []guidance.Option{{ID: id, Label: strings.Clone(assessment.ItemName(c.Release, o))}},
		},
	}
}

// choicesOf are the answers to each item, in the words of a release.
func choicesOf(r *model.Release) []guidance.Option {
	offered := assessment.Choices(r)
	choices := make([]guidance.Option, len(offered))
	for i, choice := range offered {
		choices[i] = guidance.Option{ID: choice.ID, Label: strings.Clone(choice.Label)}
	}
	return choices
}

// Evidence implements Section.
func (symptoms) Evidence(c *Case) []guidance.Evidence {
	var evidence []guidance.Evidence
	if c.Survey.Type == guidance.FollowUp {
		evidence = c.takenOver()
	} else if step := c.step(Symptoms); step == nil || step.Question.Selected == nil {
		evidence = append(evidence, c.Survey.Evidence...) // nobody was asked to confirm it
	}
	for _, step := range c.Of(Symptoms) {
		for _, item := range step.Answer.Items {
			evidence = append(evidence, guidance.Evidence{ID: item.ID, ChoiceID: item.ChoiceID, Source: guidance.Initial})
		}
	}
	return evidence
}

// takenOver are the risk factors that a follow-up does not ask for again.
func (c *Case) takenOver() []guidance.Evidence {
	var evidence []guidance.Evidence
	for _, earlier := range c.earlier() {
		if strings.HasPrefix(earlier.ID, model.RiskFactorPrefix) {
			evidence = append(evidence, guidance.Evidence{ID: earlier.ID, ChoiceID: earlier.ChoiceID, Source: guidance.Predefined})
		}
	}
	return evidence
}
