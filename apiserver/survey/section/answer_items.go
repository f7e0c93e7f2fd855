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

// rawItem is an item as sent by the client.
type rawItem struct {
	ID       json.RawMessage `json:"id"`
	ChoiceID json.RawMessage `json:"choice_id"`
}

// parseItems parses a list of items with their id and choice_id and rejects duplicate
// IDs. The caller validates the values.
func (j answerParser) parseItems(sent json.RawMessage) ([]record.Item, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(sent, &list); err != nil {
		return nil, j.fieldError(answerField, describeJSON(sent))
	}
	if len(list) < j.minItems() || len(list) > MaxItems {
		return nil, j.fieldError(answerField, fmt.Sprintf("%d items", len(list)))
	}
	items := make([]record.Item, len(list))
	first := make(map[string]int, len(list))
	for i, one := range list {
		item, err := j.parseItem(itemField(i), one)
		if err != nil {
			return nil, err
		}
		if before, again := first[item.ID]; again {
			return nil, j.fieldError(itemField(i)+".id", fmt.Sprintf("%s, a duplicate of item %d", assessment.Quote(item.ID), before))
		}
		first[item.ID], items[i] = i, item
	}
	return items, nil
}

// minItems returns the minimum number of items in an answer. For Symptoms it depends
// on the component.
func (j answerParser) minItems() int {
	if j.AnswerType == record.AnswerSymptoms {
		return 0
	}
	return j.minLength()
}

// itemField returns the field name of the item at a position.
func itemField(i int) string { return fmt.Sprintf("%s[%d]", answerField, i) }

// parseItem parses one item.
func (j answerParser) parseItem(part string, sent json.RawMessage) (parseItem record.Item, err error) {
	var read *rawItem
	if err := json.Unmarshal(sent, &read); err != nil || read == nil {
		return parseItem, j.fieldError(part, describeJSON(sent))
	}
	if parseItem.ID, err = j.parseString(part+".id", read.ID); err != nil {
		return parseItem, err
	}
	if parseItem.ID == "" {
		return parseItem, j.fieldError(part+".id", "none")
	}
	parseItem.ChoiceID, err = j.parseString(part+".choice_id", read.ChoiceID)
	return parseItem, err
}

// parseString parses a string. Null or no value yields the empty string.
func (j answerParser) parseString(part string, sent json.RawMessage) (string, error) {
	var word *string
	if len(sent) == 0 {
		return "", nil
	}
	if err := json.Unmarshal(sent, &word); err != nil {
		return "", j.fieldError(part, describeJSON(sent))
	}
	if word == nil {
		return "", nil
	}
	return *word, nil
}
