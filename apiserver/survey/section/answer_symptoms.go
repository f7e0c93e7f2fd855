// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// parseSymptoms parses choices about the options. Single requires exactly one item.
// GroupSingle allows at most one present item, and the empty list means that none is present.
// GroupMultiple allows any item to be omitted.
func (p answerParser) parseSymptoms(raw json.RawMessage) (record.Answer, error) {
	items, err := p.parseItems(raw)
	if err != nil {
		return record.Answer{}, err
	}
	present := 0
	for i := range items {
		if items[i], err = p.validateSymptom(itemField(i), items[i]); err != nil {
			return record.Answer{}, err
		}
		if items[i].ChoiceID == record.ChoicePresent {
			present++
		}
	}
	switch {
	case p.Meta.Component == record.ComponentSingle && len(items) != 1:
		return record.Answer{}, p.fieldError(answerField, fmt.Sprintf("%d items", len(items)))
	case p.Meta.Component == record.ComponentGroupSingle && present > 1:
		return record.Answer{}, p.fieldError(answerField, fmt.Sprintf("%d present", present))
	}
	return record.Answer{Kind: record.KindItems, Items: items}, nil
}

// validateSymptom returns the item, which must be one of the options.
func (p answerParser) validateSymptom(part string, item record.Item) (record.Item, error) {
	if !hasOption(p.Meta.Options, item.ID) {
		return item, p.fieldError(part+".id", assessment.Quote(item.ID))
	}
	if !hasOption(p.Meta.Choices, item.ChoiceID) {
		return item, assessment.NotSupported(part+".choice_id", item.ChoiceID, "one of "+joinIDs(p.Meta.Choices))
	}
	return item, nil
}

// symptomsExpectation describes a valid answer about symptoms.
func (p answerParser) symptomsExpectation() string {
	amount := map[record.Component]string{
		record.ComponentSingle:        `a list of exactly one {"id", "choice_id"}`,
		record.ComponentGroupSingle:   `a list of {"id", "choice_id"}, at most one of them present, or [] for none of these`,
		record.ComponentGroupMultiple: `a list of {"id", "choice_id"}, each once`,
	}[p.Meta.Component]
	return strings.Join([]string{amount, "id one of " + joinIDs(p.Meta.Options), "choice_id one of " + joinIDs(p.Meta.Choices)}, ", ")
}
