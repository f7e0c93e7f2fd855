// SPDX-License-Identifier: Apache-2.0

package section

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/language"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// LongestWords is the most that Understand reads, in Unicode code points, as /v3/parse.
const LongestWords = 2048

// Understand is what a patient's own words say that a list of symptoms has, each once, in
// the order in which it is said: the answer to a question for symptoms, for the patient
// to confirm.
func Understand(r *model.Release, lists Lists, list guidance.SourceList, words string) []guidance.Item {
	var items []guidance.Item
	for _, mention := range mentions(r, list.Sex, list.Age, words) {
		found, ok := lists.Find(list, r.ObservationID(mention.Observation))
		if !ok {
			continue
		}
		choice := guidance.Present
		if mention.Absent {
			choice = guidance.Absent
		}
		items = append(items, guidance.Item{ID: found.ID, Name: found.Name, ChoiceID: choice})
	}
	return items
}

// Mentioned is what the patient's own words say that is there.
func (c *Case) Mentioned(words string) (there []model.ObservationIndex) {
	for _, mention := range mentions(c.Release, c.Sex(), c.Age(), words) {
		if !mention.Absent {
			there = append(there, mention.Observation)
		}
	}
	return there
}

// usualAge is for patients of unknown age: that of most of what there is.
var usualAge = guidance.Age{Value: 30, Unit: assessment.Year}

func mentions(r *model.Release, sex string, age guidance.Age, words string) []language.Mention {
	if !age.Known() {
		age = usualAge
	}
	query := language.Query{Text: words, AgeMonths: age.Months(), Symptoms: true, RiskFactors: true}
	if known, err := model.ParseSex(sex); err == nil {
		query.Sex = &known
	}
	return language.Parse(r, query).Mentions
}
