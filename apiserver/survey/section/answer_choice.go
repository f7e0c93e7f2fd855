// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// parseChoice parses a single option.
func (j answerParser) parseChoice(sent json.RawMessage) (record.Answer, error) {
	item, err := j.parseItem(answerField, sent)
	if err == nil {
		item, err = j.validateOption(answerField, item)
	}
	return record.Answer{Kind: record.KindItem, Items: []record.Item{item}}, err
}

// parseMultipleChoice parses any number of options.
func (j answerParser) parseMultipleChoice(sent json.RawMessage) (record.Answer, error) {
	items, err := j.parseItems(sent)
	if err != nil {
		return record.Answer{}, err
	}
	for i := range items {
		if items[i], err = j.validateOption(itemField(i), items[i]); err != nil {
			return record.Answer{}, err
		}
	}
	return record.Answer{Kind: record.KindItems, Items: items}, nil
}

// validateOption returns the item, which must be one of the options. Only its ID
// matters.
func (j answerParser) validateOption(part string, item record.Item) (record.Item, error) {
	if !hasOption(j.Meta.Options, item.ID) {
		return item, j.fieldError(part+".id", assessment.Quote(item.ID))
	}
	return record.Item{ID: item.ID}, nil
}
