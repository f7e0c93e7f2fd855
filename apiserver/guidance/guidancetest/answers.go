// SPDX-License-Identifier: Apache-2.0

package guidancetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// GoodAnswer draws an answer that a question takes, in a world that may be another than
// when it was asked.
func GoodAnswer(r *rapid.T, q *guidance.Question, w section.World) string {
	if !q.Meta.Required && rapid.IntRange(0, 3).Draw(r, "skips") == 0 {
		return `null`
	}
	switch q.AnswerType {
	case guidance.Number:
		return fmt.Sprint(rapid.IntRange(q.Meta.Bounds.Min, q.Meta.Bounds.Max).Draw(r, "number"))
	case guidance.Text:
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aä💊\"\\ ")), 1, min(20, q.Meta.MaxLength), -1).Draw(r, "text")
		return quoted("x" + text)
	case guidance.Choice:
		return `{"id":` + quoted(rapid.SampledFrom(q.Meta.Options).Draw(r, "option").ID) + `}`
	case guidance.MultipleChoice:
		return ItemsOf(someIDs(r, OptionIDs(q.Meta.Options), 0), nil)
	case guidance.List:
		return goodItems(r, q, w)
	default:
		return goodSymptoms(r, q)
	}
}

func quoted(text string) string {
	written, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(written)
}

// OptionIDs are the ids of options.
func OptionIDs(options []guidance.Option) []string {
	ids := make([]string, len(options))
	for i, option := range options {
		ids[i] = option.ID
	}
	return ids
}

// someIDs draws some of them, each once.
func someIDs(r *rapid.T, ids []string, fewest int) []string {
	shuffled := rapid.Permutation(ids).Draw(r, "order")
	return shuffled[:rapid.IntRange(fewest, min(4, len(ids))).Draw(r, "count")]
}

// ItemsOf writes items, with the choices where there are any.
func ItemsOf(ids, choices []string) string {
	items := make([]string, len(ids))
	for i, id := range ids {
		items[i] = `{"id":` + quoted(id) + `}`
		if choices != nil && choices[i] != "" {
			items[i] = `{"id":` + quoted(id) + `,"choice_id":` + quoted(choices[i]) + `}`
		}
	}
	return "[" + strings.Join(items, ",") + "]"
}

// ofLists are the ids of the short lists.
var ofLists = map[string][]string{
	guidance.ChronicDiseaseList: {"c_1", "c_2"}, guidance.DrugList: {"d_1", "d_2"}, guidance.HospitalizationList: {"p_47"}, guidance.SpecialistList: {"sp_1"},
}

func goodItems(r *rapid.T, q *guidance.Question, w section.World) string {
	fewest := 0
	if q.Meta.Required {
		fewest = 1
	}
	if q.Meta.SourceList.Name != guidance.SymptomList {
		ids := slices.DeleteFunc(slices.Clone(ofLists[q.Meta.SourceList.Name]), func(id string) bool {
			_, listed := w.Lists.Find(*q.Meta.SourceList, id)
			return !listed
		})
		return ItemsOf(someIDs(r, ids, fewest), nil)
	}
	ids := someIDs(r, symptomIDs(w.Release, q.Meta.SourceList), fewest)
	choices := make([]string, len(ids))
	for i := range choices {
		choices[i] = rapid.SampledFrom([]string{"", "present", "present", "absent", "unknown"}).Draw(r, "choice")
	}
	return ItemsOf(ids, choices)
}

// symptomIDs are the symptoms and risk factors that apply to whom a list is for.
func symptomIDs(release *model.Release, list *guidance.SourceList) []string {
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

func goodSymptoms(r *rapid.T, q *guidance.Question) string {
	ids := OptionIDs(q.Meta.Options)
	if q.Meta.Component != guidance.Single {
		ids = someIDs(r, ids, 0)
	}
	choices := make([]string, len(ids))
	for i := range choices {
		choices[i] = rapid.SampledFrom([]string{"present", "absent", "unknown"}).Draw(r, "choice")
		if q.Meta.Component == guidance.GroupSingle && i > 0 && choices[i] == "present" {
			choices[i] = "absent"
		}
	}
	return ItemsOf(ids, choices)
}

// BadAnswer draws an answer that a question does not take.
func BadAnswer(r *rapid.T, q *guidance.Question) string {
	bad := []string{``, `true`, `{`, `[{"id":"nobody"}]`, `[{}]`, `[1]`, `{"id":7}`, `-1`, `0.5`, `[{"id":"x"},{"id":"x"}]`}
	if q.Meta.Required {
		bad = append(bad, `null`)
	}
	if q.AnswerType == guidance.Text {
		bad = append(bad, quoted(strings.Repeat("💊", q.Meta.MaxLength+1)))
	} else {
		bad = append(bad, `""`, `"female"`)
	}
	if q.AnswerType == guidance.Number {
		bad = append(bad, fmt.Sprint(q.Meta.Bounds.Min-1), fmt.Sprint(q.Meta.Bounds.Max+1), `1e99`)
	}
	if q.AnswerType == guidance.Symptoms {
		one := q.Meta.Options[0].ID
		bad = append(bad, ItemsOf([]string{one}, []string{"maybe"}), ItemsOf([]string{one}, nil), ItemsOf([]string{one, one}, []string{"absent", "absent"}))
	}
	return rapid.SampledFrom(bad).Draw(r, "bad")
}
