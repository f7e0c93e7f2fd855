// SPDX-License-Identifier: Apache-2.0

package section

import (
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
	query := language.Query{Text: words, AgeMonths: list.Age.Months(), Symptoms: true, RiskFactors: true}
	if sex, err := model.ParseSex(list.Sex); err == nil {
		query.Sex = &sex
	}
	var items []guidance.Item
	for _, mention := range language.Parse(r, query).Mentions {
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
