// SPDX-License-Identifier: Apache-2.0

package surveytest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// DrawValidAnswer draws a valid answer to a question, in an environment that may have changed
// since then.
func DrawValidAnswer(r *rapid.T, q *record.Question, env section.Env) string {
	if !q.Meta.Required && rapid.IntRange(0, 3).Draw(r, "skips") == 0 {
		return `null`
	}
	switch q.AnswerType {
	case record.AnswerNumber:
		return fmt.Sprint(rapid.IntRange(q.Meta.Bounds.Min, q.Meta.Bounds.Max).Draw(r, "number"))
	case record.AnswerText:
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aä💊\"\\ ")), 1, min(20, q.Meta.MaxLength), -1).Draw(r, "text")
		return quoteJSON("x" + text)
	case record.AnswerChoice:
		return `{"id":` + quoteJSON(rapid.SampledFrom(q.Meta.Options).Draw(r, "option").ID) + `}`
	case record.AnswerMultipleChoice:
		return ItemsJSON(drawIDs(r, OptionIDs(q.Meta.Options), 0), nil)
	case record.AnswerList:
		return drawItems(r, q, env)
	default:
		return drawSymptoms(r, q)
	}
}

func quoteJSON(text string) string {
	written, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(written)
}

// OptionIDs returns the IDs of options.
func OptionIDs(options []record.Option) []string {
	ids := make([]string, len(options))
	for i, option := range options {
		ids[i] = option.ID
	}
	return ids
}

// drawIDs draws at least minCount of the IDs, without duplicates.
func drawIDs(r *rapid.T, ids []string, minCount int) []string {
	shuffled := rapid.Permutation(ids).Draw(r, "order")
	return shuffled[:rapid.IntRange(minCount, min(4, len(ids))).Draw(r, "count")]
}

// ItemsJSON encodes items with their choices, if any.
func ItemsJSON(ids, choices []string) string {
	items := make([]string, len(ids))
	for i, id := range ids {
		items[i] = `{"id":` + quoteJSON(id) + `}`
		if choices != nil && choices[i] != "" {
			items[i] = `{"id":` + quoteJSON(id) + `,"choice_id":` + quoteJSON(choices[i]) + `}`
		}
	}
	return "[" + strings.Join(items, ",") + "]"
}

// idsByList are the IDs of the short lists, by list name.
var idsByList = map[string][]string{
	record.ChronicDiseaseList: {"c_1", "c_2"}, record.DrugList: {"d_1", "d_2"}, record.HospitalizationList: {"p_47"}, record.SpecialistList: {"sp_1"},
}

func drawItems(r *rapid.T, q *record.Question, env section.Env) string {
	minCount := 0
	if q.Meta.Required {
		minCount = 1
	}
	if q.Meta.SourceList.Name != record.SymptomList {
		ids := slices.DeleteFunc(slices.Clone(idsByList[q.Meta.SourceList.Name]), func(id string) bool {
			_, listed := env.Lists.Find(*q.Meta.SourceList, id)
			return !listed
		})
		return ItemsJSON(drawIDs(r, ids, minCount), nil)
	}
	ids := drawIDs(r, symptomIDs(env.Release, q.Meta.SourceList), minCount)
	choices := make([]string, len(ids))
	for i := range choices {
		choices[i] = rapid.SampledFrom([]string{"", "present", "present", "absent", "unknown"}).Draw(r, "choice")
	}
	return ItemsJSON(ids, choices)
}

// symptomIDs returns the symptoms and risk factors that apply to the patient of a
// list.
func symptomIDs(release *model.Release, list *record.SourceList) []string {
	var ids []string
	for i := range release.Observations {
		o := &release.Observations[i]
		sexFits := o.Sex == model.BothSexes || (o.Sex == model.FemaleOnly) == (list.Sex == "female")
		if months := list.Age.Months(); sexFits && int(o.AgeFrom) <= months && months <= int(o.AgeTo) && o.Kind != model.LabResult {
			ids = append(ids, release.ObservationID(model.ObservationIndex(i)))
		}
	}
	return ids
}

func drawSymptoms(r *rapid.T, q *record.Question) string {
	ids := OptionIDs(q.Meta.Options)
	if q.Meta.Component != record.ComponentSingle {
		ids = drawIDs(r, ids, 0)
	}
	choices := make([]string, len(ids))
	for i := range choices {
		choices[i] = rapid.SampledFrom([]string{"present", "absent", "unknown"}).Draw(r, "choice")
		if q.Meta.Component == record.ComponentGroupSingle && i > 0 && choices[i] == "present" {
			choices[i] = "absent"
		}
	}
	return ItemsJSON(ids, choices)
}

// DrawInvalidAnswer draws an invalid answer to a question.
func DrawInvalidAnswer(r *rapid.T, q *record.Question) string {
	invalid := []string{``, `true`, `{`, `[{"id":"nobody"}]`, `[{}]`, `[1]`, `{"id":7}`, `-1`, `0.5`, `[{"id":"x"},{"id":"x"}]`}
	if q.Meta.Required {
		invalid = append(invalid, `null`)
	}
	if q.AnswerType == record.AnswerText {
		invalid = append(invalid, quoteJSON(strings.Repeat("💊", q.Meta.MaxLength+1)))
	} else {
		invalid = append(invalid, `""`, `"female"`)
	}
	if q.AnswerType == record.AnswerNumber {
		invalid = append(invalid, fmt.Sprint(q.Meta.Bounds.Min-1), fmt.Sprint(q.Meta.Bounds.Max+1), `1e99`)
	}
	if q.AnswerType == record.AnswerSymptoms {
		firstID := q.Meta.Options[0].ID
		invalid = append(invalid, ItemsJSON([]string{firstID}, []string{"maybe"}), ItemsJSON([]string{firstID}, nil), ItemsJSON([]string{firstID, firstID}, []string{"absent", "absent"}))
	}
	return rapid.SampledFrom(invalid).Draw(r, "bad")
}
