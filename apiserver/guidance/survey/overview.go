// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// overview sorts what was said for a clinician.
func overview(c *section.Case) guidance.Overview {
	page := guidance.Overview{
		Reported: []guidance.Naming{}, Denied: []guidance.Naming{}, Unknown: []guidance.Naming{}, RiskFactors: []guidance.Naming{},
		ChronicDiseases: chosen(c, section.ChronicDiseases), Drugs: chosen(c, section.Drugs), Allergies: chosen(c, section.Allergies),
		Hospitalizations: chosen(c, section.Hospitalizations), Specialists: chosen(c, section.Specialists), Words: words(c),
	}
	names := askedNames(c)
	for _, fact := range c.Facts() {
		list := &page.Unknown
		switch {
		case fact.ChoiceID == guidance.Absent:
			list = &page.Denied
		case fact.ChoiceID == guidance.Present && strings.HasPrefix(fact.ID, model.RiskFactorPrefix):
			list = &page.RiskFactors
		case fact.ChoiceID == guidance.Present:
			list = &page.Reported
		}
		*list = append(*list, nameFact(c.Release, fact, names))
	}
	return page
}

// nameFact names what the release knows no more as it was asked for, or by its id.
func nameFact(r *model.Release, fact section.Fact, names map[string]string) guidance.Naming {
	if fact.Observation != model.None {
		return naming(assessment.ObservationName(r, fact.Observation))
	}
	name, ok := names[fact.ID]
	if !ok {
		name = fact.ID
	}
	return guidance.Naming{ID: fact.ID, Name: name, CommonName: name}
}

// askedNames are the names of all that was asked for or chosen, by id.
func askedNames(c *section.Case) map[string]string {
	names := map[string]string{}
	for _, step := range c.Steps {
		for _, option := range step.Question.Meta.Options {
			names[option.ID] = option.Label
		}
		if step.Question.AnswerType != guidance.List {
			continue
		}
		for _, item := range step.Answer.Items {
			names[item.ID] = item.Name
		}
	}
	return names
}

// chosen is what was chosen in a section.
func chosen(c *section.Case, name string) []guidance.Item {
	items := []guidance.Item{}
	for _, step := range c.Of(name) {
		items = append(items, step.Named().Items...)
	}
	return items
}

// words are the patient's own.
func words(c *section.Case) []guidance.Quote {
	quotes := []guidance.Quote{}
	for _, step := range c.Steps {
		if step.Answer.Form == guidance.SomeText && step.Answer.Text != "" {
			quotes = append(quotes, guidance.Quote{Question: step.Question.Text, Text: step.Answer.Text})
		}
	}
	return quotes
}
