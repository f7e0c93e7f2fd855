// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// newOverview groups the answers for clinicians.
func newOverview(state *section.State) record.Overview {
	overview := record.Overview{
		Reported: []record.Concept{}, Denied: []record.Concept{}, Unknown: []record.Concept{}, RiskFactors: []record.Concept{},
		ChronicDiseases: selectedItems(state, section.ChronicDiseases), Drugs: selectedItems(state, section.Drugs), Allergies: selectedItems(state, section.Allergies),
		Hospitalizations: selectedItems(state, section.Hospitalizations), Specialists: selectedItems(state, section.Specialists), Words: freeTextQuotes(state),
	}
	names := namesByID(state)
	for _, fact := range state.Facts() {
		list := &overview.Unknown
		switch {
		case fact.ChoiceID == record.ChoiceAbsent:
			list = &overview.Denied
		case fact.ChoiceID == record.ChoicePresent && strings.HasPrefix(fact.ID, model.RiskFactorPrefix):
			list = &overview.RiskFactors
		case fact.ChoiceID == record.ChoicePresent:
			list = &overview.Reported
		}
		*list = append(*list, newFactConcept(state.Release, fact, names))
	}
	return overview
}

// newFactConcept returns the concept of a fact. If the release does not contain it, the name
// is the one that was shown in the question, or else the ID.
func newFactConcept(r *model.Release, fact section.Fact, names map[string]string) record.Concept {
	if fact.Observation != model.None {
		return newConcept(assessment.ObservationName(r, fact.Observation))
	}
	name, ok := names[fact.ID]
	if !ok {
		name = fact.ID
	}
	return record.Concept{ID: fact.ID, Name: name, CommonName: name}
}

// namesByID returns the names of everything that was asked or selected, by ID.
func namesByID(state *section.State) map[string]string {
	names := map[string]string{}
	for _, step := range state.Steps {
		for _, option := range step.Question.Meta.Options {
			names[option.ID] = option.Label
		}
		if step.Question.AnswerType != record.AnswerList {
			continue
		}
		for _, item := range step.Answer.Items {
			names[item.ID] = item.Name
		}
	}
	return names
}

// selectedItems returns the items selected in a section.
func selectedItems(state *section.State, name string) []record.Item {
	items := []record.Item{}
	for _, step := range state.StepsIn(name) {
		items = append(items, step.NamedAnswer().Items...)
	}
	return items
}

// freeTextQuotes returns the patient's free-text answers.
func freeTextQuotes(state *section.State) []record.Quote {
	quotes := []record.Quote{}
	for _, step := range state.Steps {
		if step.Answer.Kind == record.KindText && step.Answer.Text != "" {
			quotes = append(quotes, record.Quote{Question: step.Question.Text, Text: step.Answer.Text})
		}
	}
	return quotes
}
