// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// symptoms reads choices about the options. Single wants exactly the one; of
// GroupSingle at most one is present, and the empty list says that none is; of
// GroupMultiple any may be left out.
func (j judge) symptoms(sent json.RawMessage) (guidance.Answer, error) {
	items, err := j.items(sent)
	if err != nil {
		return guidance.Answer{}, err
	}
	present := 0
	for i := range items {
		if items[i], err = j.symptom(at(i), items[i]); err != nil {
			return guidance.Answer{}, err
		}
		if items[i].ChoiceID == guidance.Present {
			present++
		}
	}
	switch {
	case j.Meta.Component == guidance.Single && len(items) != 1:
		return guidance.Answer{}, j.misfit(field, fmt.Sprintf("%d items", len(items)))
	case j.Meta.Component == guidance.GroupSingle && present > 1:
		return guidance.Answer{}, j.misfit(field, fmt.Sprintf("%d that are present", present))
	}
	return guidance.Answer{Form: guidance.SomeItems, Items: items}, nil
}

// symptom is an item that must be one of those asked.
func (j judge) symptom(part string, item guidance.Item) (guidance.Item, error) {
	if !has(j.Meta.Options, item.ID) {
		return item, j.misfit(part+".id", assessment.Quote(item.ID))
	}
	if !has(j.Meta.Choices, item.ChoiceID) {
		return item, assessment.WrongWord(part+".choice_id", item.ChoiceID, "one of "+ids(j.Meta.Choices))
	}
	return item, nil
}

// expectedOfSymptoms says what an answer about symptoms is.
func (j judge) expectedOfSymptoms() string {
	amount := map[guidance.Component]string{
		guidance.Single:        `a list of exactly one {"id", "choice_id"}`,
		guidance.GroupSingle:   `a list of {"id", "choice_id"}, at most one of them present, or [] for none of these`,
		guidance.GroupMultiple: `a list of {"id", "choice_id"}, each once`,
	}[j.Meta.Component]
	return strings.Join([]string{amount, "id one of " + ids(j.Meta.Options), "choice_id one of " + ids(j.Meta.Choices)}, ", ")
}
