// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// MostItems is how many items an answer may have.
const MostItems = 30

// sentItem is an item as clients send it.
type sentItem struct {
	ID       json.RawMessage `json:"id"`
	ChoiceID json.RawMessage `json:"choice_id"`
}

// items reads a list of items with the id and choice_id that were sent, each id
// once. Whether they are right, the caller says.
func (j judge) items(sent json.RawMessage) ([]guidance.Item, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(sent, &list); err != nil {
		return nil, j.misfit(field, kind(sent))
	}
	if len(list) < j.fewestItems() || len(list) > MostItems {
		return nil, j.misfit(field, fmt.Sprintf("%d items", len(list)))
	}
	items := make([]guidance.Item, len(list))
	first := make(map[string]int, len(list))
	for i, one := range list {
		item, err := j.item(at(i), one)
		if err != nil {
			return nil, err
		}
		if before, again := first[item.ID]; again {
			return nil, j.misfit(at(i)+".id", fmt.Sprintf("%s, which item %d has too", assessment.Quote(item.ID), before))
		}
		first[item.ID], items[i] = i, item
	}
	return items, nil
}

// fewestItems is how many items an answer must have. Symptoms say so by their
// component.
func (j judge) fewestItems() int {
	if j.AnswerType == guidance.Symptoms {
		return 0
	}
	return j.fewest()
}

// at names the item at a position.
func at(i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// item reads one item.
func (j judge) item(part string, sent json.RawMessage) (item guidance.Item, err error) {
	var read *sentItem
	if err := json.Unmarshal(sent, &read); err != nil || read == nil {
		return item, j.misfit(part, kind(sent))
	}
	if item.ID, err = j.word(part+".id", read.ID); err != nil {
		return item, err
	}
	if item.ID == "" {
		return item, j.misfit(part+".id", "none")
	}
	item.ChoiceID, err = j.word(part+".choice_id", read.ChoiceID)
	return item, err
}

// word reads a string; null, or nothing at all, is the empty one.
func (j judge) word(part string, sent json.RawMessage) (string, error) {
	var word *string
	if len(sent) == 0 {
		return "", nil
	}
	if err := json.Unmarshal(sent, &word); err != nil {
		return "", j.misfit(part, kind(sent))
	}
	if word == nil {
		return "", nil
	}
	return *word, nil
}
