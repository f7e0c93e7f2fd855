// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// choice reads one of the options.
func (j judge) choice(sent json.RawMessage) (guidance.Answer, error) {
	item, err := j.item(field, sent)
	if err == nil {
		item, err = j.chosen(field, item)
	}
	return guidance.Answer{Form: guidance.OneItem, Items: []guidance.Item{item}}, err
}

// multipleChoice reads some of the options.
func (j judge) multipleChoice(sent json.RawMessage) (guidance.Answer, error) {
	items, err := j.items(sent)
	if err != nil {
		return guidance.Answer{}, err
	}
	for i := range items {
		if items[i], err = j.chosen(at(i), items[i]); err != nil {
			return guidance.Answer{}, err
		}
	}
	return guidance.Answer{Form: guidance.SomeItems, Items: items}, nil
}

// chosen is an item that must be one of the options. Nothing but its id counts.
func (j judge) chosen(part string, item guidance.Item) (guidance.Item, error) {
	if !has(j.Meta.Options, item.ID) {
		return item, j.misfit(part+".id", assessment.Quote(item.ID))
	}
	return guidance.Item{ID: item.ID}, nil
}
