// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// list reads items of a knowledge list. Those of symptoms may say that something is
// not there; without a choice it is.
func (j judge) list(sent json.RawMessage) (guidance.Answer, error) {
	items, err := j.items(sent)
	if err != nil {
		return guidance.Answer{}, err
	}
	for i, item := range items {
		found, ok := j.lists.Find(*j.Meta.SourceList, item.ID)
		if !ok {
			return guidance.Answer{}, j.misfit(at(i)+".id", assessment.Quote(item.ID))
		}
		items[i].Name = found.Name
		if items[i].ChoiceID, err = j.choiceOfList(at(i), item.ChoiceID); err != nil {
			return guidance.Answer{}, err
		}
	}
	return guidance.Answer{Form: guidance.SomeItems, Items: items}, nil
}

// choiceOfList is the choice about an item of a list: none but of symptoms.
func (j judge) choiceOfList(part, choice string) (string, error) {
	if j.Meta.SourceList.Name != guidance.SymptomList {
		return "", nil
	}
	switch choice {
	case "":
		return guidance.Present, nil
	case guidance.Present, guidance.Absent, guidance.Unknown:
		return choice, nil
	default:
		return "", assessment.WrongWord(part+".choice_id", choice, "present, absent or unknown, or none for present")
	}
}

// expectedOfList says what an answer is that comes from a list.
func (j judge) expectedOfList() string {
	list := j.Meta.SourceList
	who := ""
	if list.Sex != "" && list.Age.Known() {
		who = fmt.Sprintf(" for sex %s and age %d %s", list.Sex, list.Age.Value, list.Age.Unit)
	}
	return fmt.Sprintf(`a list of %d to %d {"id"} of the knowledge list %s%s, each once`, j.fewest(), MostItems, list.Name, who)
}
