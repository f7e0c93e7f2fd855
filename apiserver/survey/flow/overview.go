// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// overview groups the answers for clinicians.
func overview(c *section.State) record.Overview {
	page := record.Overview{
		Reported: []record.Concept{}, Denied: []record.Concept{}, Unknown: []record.Concept{}, RiskFactors: []record.Concept{},
		ChronicDiseases: selectedItems(c, section.ChronicDiseases), Drugs: selectedItems(c, section.Drugs), Allergies: selectedItems(c, section.Allergies),
		Hospitalizations: selectedItems(c, section.Hospitalizations), Specialists: selectedItems(c, section.Specialists), Words: freeTextQuotes(c),
	}
	names := namesByID(c)
	for _, fact := range c.Facts() {
		list := &page.Unknown
		switch {
		case fact.ChoiceID == record.ChoiceAbsent:
			list = &page.Denied
		case fact.ChoiceID == record.ChoicePresent && strings.HasPrefix(fact.ID, model.RiskFactorPrefix):
			list = &page.RiskFactors
		case fact.ChoiceID == record.ChoicePresent:
			list = &page.Reported
		}
		*list = append(*list, newFactConcept(c.Release, fact, names))
	}
	return page
}

// newFactConcept returns the concept of a fact. If the release no longer has it, the
// name is the one shown when it was asked, or the ID.
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

// namesByID maps IDs to the names of everything that was asked or selected.
func namesByID(c *section.State) map[string]string {
	names := map[string]string{}
	for _, step := range c.Steps {
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
func selectedItems(c *section.State, name string) []record.Item {
	items := []record.Item{}
	for _, step := range c.StepsIn(name) {
		items = append(items, step.NamedAnswer().Items...)
	}
	return items
}

// freeTextQuotes returns the patient's free-text answers.
func freeTextQuotes(c *section.State) []record.Quote {
	quotes := []record.Quote{}
	for _, step := range c.Steps {
		if step.Answer.Kind == record.KindText && step.Answer.Text != "" {
			quotes = append(quotes, record.Quote{Question: step.Question.Text, Text: step.Answer.Text})
		}
	}
	return quotes
}
