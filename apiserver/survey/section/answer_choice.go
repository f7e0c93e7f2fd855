// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// parseChoice parses a single option.
func (p answerParser) parseChoice(raw json.RawMessage) (record.Answer, error) {
	item, err := p.parseItem(answerField, raw)
	if err == nil {
		item, err = p.validateOption(answerField, item)
	}
	return record.Answer{Kind: record.KindItem, Items: []record.Item{item}}, err
}

// parseMultipleChoice parses any number of options.
func (p answerParser) parseMultipleChoice(raw json.RawMessage) (record.Answer, error) {
	items, err := p.parseItems(raw)
	if err != nil {
		return record.Answer{}, err
	}
	for i := range items {
		if items[i], err = p.validateOption(itemField(i), items[i]); err != nil {
			return record.Answer{}, err
		}
	}
	return record.Answer{Kind: record.KindItems, Items: items}, nil
}

// validateOption returns the item, which must be one of the options, with only its ID.
func (p answerParser) validateOption(part string, item record.Item) (record.Item, error) {
	if !hasOption(p.Meta.Options, item.ID) {
		return item, p.fieldError(part+".id", assessment.Quote(item.ID))
	}
	return record.Item{ID: item.ID}, nil
}
