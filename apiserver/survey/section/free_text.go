// SPDX-License-Identifier: Apache-2.0

package section

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/nlp"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// MaxFreeTextLength is the maximum length of a text for ParseText in Unicode code points, the
// same as for /v3/parse.
const MaxFreeTextLength = 2048

// ParseText returns the items of a symptom list that a text mentions, without duplicates, in
// order of mention. They are a suggested answer to a symptom question, which the patient must
// confirm.
func ParseText(r *model.Release, lists Lists, list record.SourceList, words string) []record.Item {
	var items []record.Item
	for _, mention := range parseMentions(r, list.Sex, list.Age, words) {
		found, ok := lists.Find(list, r.ObservationID(mention.Observation))
		if !ok {
			continue
		}
		choice := record.ChoicePresent
		if mention.Absent {
			choice = record.ChoiceAbsent
		}
		items = append(items, record.Item{ID: found.ID, Name: found.Name, ChoiceID: choice})
	}
	return items
}

// MentionedObservations returns the observations that a text reports as present.
func (state *State) MentionedObservations(words string) (present []model.ObservationIndex) {
	for _, mention := range parseMentions(state.Release, state.Sex(), state.Age(), words) {
		if !mention.Absent {
			present = append(present, mention.Observation)
		}
	}
	return present
}

// defaultAge replaces an unknown age: most observations apply at this age.
var defaultAge = record.Age{Value: 30, Unit: assessment.Year}

func parseMentions(r *model.Release, sex string, age record.Age, words string) []nlp.Mention {
	if !age.Known() {
		age = defaultAge
	}
	query := nlp.Query{Text: words, AgeMonths: age.Months(), Symptoms: true, RiskFactors: true}
	if known, err := model.ParseSex(sex); err == nil {
		query.Sex = &known
	}
	return nlp.Parse(r, query).Mentions
}
