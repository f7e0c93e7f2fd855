// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// MaxItems is the maximum number of items in an answer.
const MaxItems = 30

// rawItem is an item as raw by the client.
type rawItem struct {
	ID       json.RawMessage `json:"id"`
	ChoiceID json.RawMessage `json:"choice_id"`
}

// parseItems parses a list of items with their id and choice_id and rejects duplicate
// IDs. The caller validates the values.
func (p answerParser) parseItems(raw json.RawMessage) ([]record.Item, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, p.fieldError(answerField, describeJSON(raw))
	}
	if len(list) < p.minItems() || len(list) > MaxItems {
		return nil, p.fieldError(answerField, fmt.Sprintf("%d items", len(list)))
	}
	items := make([]record.Item, len(list))
	first := make(map[string]int, len(list))
	for i, raw := range list {
		item, err := p.parseItem(itemField(i), raw)
		if err != nil {
			return nil, err
		}
		if firstIndex, duplicate := first[item.ID]; duplicate {
			return nil, p.fieldError(itemField(i)+".id", fmt.Sprintf("%s, a duplicate of item %d", assessment.Quote(item.ID), firstIndex))
		}
		first[item.ID], items[i] = i, item
	}
	return items, nil
}

// minItems returns the minimum number of items in an answer. For Symptoms it depends
// on the component.
func (p answerParser) minItems() int {
	if p.AnswerType == record.AnswerSymptoms {
		return 0
	}
	return p.minLength()
}

// itemField returns the field name of the item at a position.
func itemField(i int) string { return fmt.Sprintf("%s[%d]", answerField, i) }

// parseItem parses a single item.
func (p answerParser) parseItem(part string, raw json.RawMessage) (item record.Item, err error) {
	var decoded *rawItem
	if err := json.Unmarshal(raw, &decoded); err != nil || decoded == nil {
		return item, p.fieldError(part, describeJSON(raw))
	}
	if item.ID, err = p.parseString(part+".id", decoded.ID); err != nil {
		return item, err
	}
	if item.ID == "" {
		return item, p.fieldError(part+".id", "none")
	}
	item.ChoiceID, err = p.parseString(part+".choice_id", decoded.ChoiceID)
	return item, err
}

// parseString parses a string. Null or a missing value yields the empty string.
func (p answerParser) parseString(part string, raw json.RawMessage) (string, error) {
	var text *string
	if len(raw) == 0 {
		return "", nil
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", p.fieldError(part, describeJSON(raw))
	}
	if text == nil {
		return "", nil
	}
	return *text, nil
}
