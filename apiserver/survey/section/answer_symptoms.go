// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// parseSymptoms parses choices about the options. Single takes exactly the one item.
// GroupSingle allows at most one present item, and the empty list means none is
// present. GroupMultiple allows any item to be omitted.
func (j answerParser) parseSymptoms(sent json.RawMessage) (record.Answer, error) {
	items, err := j.parseItems(sent)
	if err != nil {
		return record.Answer{}, err
	}
	present := 0
	for i := range items {
		if items[i], err = j.validateSymptom(itemField(i), items[i]); err != nil {
			return record.Answer{}, err
		}
		if items[i].ChoiceID == record.ChoicePresent {
			present++
		}
	}
	switch {
	case j.Meta.Component == record.ComponentSingle && len(items) != 1:
		return record.Answer{}, j.fieldError(answerField, fmt.Sprintf("%d items", len(items)))
	case j.Meta.Component == record.ComponentGroupSingle && present > 1:
		return record.Answer{}, j.fieldError(answerField, fmt.Sprintf("%d present", present))
	}
	return record.Answer{Kind: record.KindItems, Items: items}, nil
}

// validateSymptom returns the item, which must be one of those asked about.
func (j answerParser) validateSymptom(part string, item record.Item) (record.Item, error) {
	if !hasOption(j.Meta.Options, item.ID) {
		return item, j.fieldError(part+".id", assessment.Quote(item.ID))
	}
	if !hasOption(j.Meta.Choices, item.ChoiceID) {
		return item, assessment.NotSupported(part+".choice_id", item.ChoiceID, "one of "+joinIDs(j.Meta.Choices))
	}
	return item, nil
}

// symptomsExpectation describes a valid answer about symptoms.
func (j answerParser) symptomsExpectation() string {
	amount := map[record.Component]string{
		record.ComponentSingle:        `a list of exactly one {"id", "choice_id"}`,
		record.ComponentGroupSingle:   `a list of {"id", "choice_id"}, at most one of them present, or [] for none of these`,
		record.ComponentGroupMultiple: `a list of {"id", "choice_id"}, each once`,
	}[j.Meta.Component]
	return strings.Join([]string{amount, "id one of " + joinIDs(j.Meta.Options), "choice_id one of " + joinIDs(j.Meta.Choices)}, ", ")
}
