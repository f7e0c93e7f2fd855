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

// symptoms asks for the patient's complaints. Evidence submitted at creation replaces the
// answer, or is shown to the patient for confirmation. A follow-up asks about each earlier
// symptom again before asking for new symptoms.
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
func (symptoms) Next(state *State) (*record.Question, error) {
	if state.Survey.Type == record.TypeFollowUp {
		return state.nextFollowUpQuestion(), nil
	}
	if state.wasAsked(Symptoms) {
		return nil, nil
	}
	question := state.newQuestion(Symptoms, Symptoms, record.AnswerList, record.Meta{Required: true, SourceList: state.sourceList(record.SymptomList)})
	if state.hasPrefilledSymptom() {
		if !state.Features.PrefillConfirmation {
			return nil, nil
		}
		question.Selected = state.prefilledItems()
	}
	return question, nil
}

// hasPrefilledSymptom reports whether a symptom that can apply to the patient was
// submitted at creation.
func (state *State) hasPrefilledSymptom() bool {
	for _, evidence := range state.Survey.Evidence {
		o, ok := state.Release.ObservationByID(evidence.ID)
		if ok && evidence.ChoiceID == record.ChoicePresent && state.isSymptom(o) && Applies(state.Release, o, state.Sex(), state.Age()) {
			return true
		}
	}
	return false
}

func (state *State) isSymptom(o model.ObservationIndex) bool {
	return state.Release.Observations[o].Kind == model.Symptom
}

// prefilledItems returns the list items that were submitted at creation.
func (state *State) prefilledItems() []record.Item {
	var items []record.Item
	list := *state.sourceList(record.SymptomList)
	for _, evidence := range state.Survey.Evidence {
		if found, ok := state.Lists.Find(list, evidence.ID); ok {
			items = append(items, record.Item{ID: evidence.ID, Name: found.Name, ChoiceID: evidence.ChoiceID})
		}
	}
	return items
}

// nextFollowUpQuestion returns a question about the next earlier symptom, and finally the
// question about new symptoms.
func (state *State) nextFollowUpQuestion() *record.Question {
	for _, prior := range state.priorEvidence() {
		o, ok := state.Release.ObservationByID(prior.ID)
		if ok && state.shouldReask(o, prior) && !state.wasAsked(prior.ID) {
			return state.newReaskQuestion(o, prior.ID)
		}
	}
	if state.wasAsked(newSymptoms) {
		return nil
	}
	return state.newQuestion(Symptoms, newSymptoms, record.AnswerList, record.Meta{SourceList: state.sourceList(record.SymptomList)})
}

// priorEvidence returns the evidence that a follow-up starts from: the evidence submitted at
// creation, or else the evidence of the prior survey.
func (state *State) priorEvidence() []record.Evidence {
	if len(state.Survey.Evidence) > 0 {
		return state.Survey.Evidence
	}
	return state.Survey.CarriedOver
}

// shouldReask reports whether a follow-up asks about an earlier observation again.
func (state *State) shouldReask(o model.ObservationIndex, prior record.Evidence) bool {
	return prior.ChoiceID == record.ChoicePresent && state.isSymptom(o) &&
		state.Release.Observations[o].Question.Length > 0 && Applies(state.Release, o, state.Sex(), state.Age())
}

// newReaskQuestion returns a question about a single observation.
func (state *State) newReaskQuestion(o model.ObservationIndex, id string) *record.Question {
	observation := &state.Release.Observations[o]
	text := state.Release.Text(observation.Question)
	if state.Survey.Dependent {
		text = state.withPronouns(state.Release.Text(observation.QuestionThirdPerson))
	}
	return &record.Question{
		ID: id, Section: Symptoms, Index: len(state.Steps), Text: strings.Clone(text), AnswerType: record.AnswerSymptoms,
		Meta: record.Meta{
			Required: true, Component: record.ComponentSingle, Choices: choiceOptions(state.Release),
			Options: []record.Option{{ID: id, Label: strings.Clone(assessment.ItemName(state.Release, o))}},
		},
	}
}

// choiceOptions returns the possible choices for an item, with their wording from the
// release.
func choiceOptions(r *model.Release) []record.Option {
	offered := assessment.Choices(r)
	choices := make([]record.Option, len(offered))
	for i, choice := range offered {
		choices[i] = record.Option{ID: choice.ID, Label: strings.Clone(choice.Label)}
	}
	return choices
}

// Evidence implements Section.
func (symptoms) Evidence(state *State) []record.Evidence {
	var evidence []record.Evidence
	if state.Survey.Type == record.TypeFollowUp {
		evidence = state.carriedOverRiskFactors()
	} else if step := state.stepFor(Symptoms); step == nil || step.Question.Selected == nil {
		evidence = append(evidence, state.Survey.Evidence...) // used without confirmation
	}
	for _, step := range state.StepsIn(Symptoms) {
		for _, item := range step.Answer.Items {
			evidence = append(evidence, record.Evidence{ID: item.ID, ChoiceID: item.ChoiceID, Source: record.SourceInitial})
		}
	}
	return evidence
}

// carriedOverRiskFactors returns the risk factors that a follow-up does not ask about
// again.
func (state *State) carriedOverRiskFactors() []record.Evidence {
	var evidence []record.Evidence
	for _, prior := range state.priorEvidence() {
		if strings.HasPrefix(prior.ID, model.RiskFactorPrefix) {
			evidence = append(evidence, record.Evidence{ID: prior.ID, ChoiceID: prior.ChoiceID, Source: record.SourcePredefined})
		}
	}
	return evidence
}
