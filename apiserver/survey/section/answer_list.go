// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// parseList parses items of a knowledge list. Symptom items may carry a choice, such as
// absent; the default is present.
func (p answerParser) parseList(raw json.RawMessage) (record.Answer, error) {
	items, err := p.parseItems(raw)
	if err != nil {
		return record.Answer{}, err
	}
	for i, item := range items {
		found, ok := p.lists.Find(*p.Meta.SourceList, item.ID)
		if !ok {
			return record.Answer{}, p.fieldError(itemField(i)+".id", assessment.Quote(item.ID))
		}
		items[i].Name = found.Name
		if items[i].ChoiceID, err = p.parseListChoice(itemField(i), item.ChoiceID); err != nil {
			return record.Answer{}, err
		}
	}
	return record.Answer{Kind: record.KindItems, Items: items}, nil
}

// parseListChoice parses the choice of a list item. Only symptoms have choices.
func (p answerParser) parseListChoice(part, choice string) (string, error) {
	if p.Meta.SourceList.Name != record.SymptomList {
		return "", nil
	}
	switch choice {
	case "":
		return record.ChoicePresent, nil
	case record.ChoicePresent, record.ChoiceAbsent, record.ChoiceUnknown:
		return choice, nil
	default:
		return "", assessment.NotSupported(part+".choice_id", choice, "present, absent, unknown or none (defaults to present)")
	}
}

// listExpectation describes a valid answer from a list.
func (p answerParser) listExpectation() string {
	list := p.Meta.SourceList
	patient := ""
	if list.Sex != "" && list.Age.Known() {
		patient = fmt.Sprintf(" for sex %s and age %d %s", list.Sex, list.Age.Value, list.Age.Unit)
	}
	return fmt.Sprintf(`a list of %d to %d {"id"} from the knowledge list %s%s, each once`, p.minLength(), MaxItems, list.Name, patient)
}
