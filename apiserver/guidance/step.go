// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A Step is a question as it was asked and the answer as it was given. The last
// step of a survey that goes on is its current question, without an answer.
type Step struct {
	Question Question `json:"question"`
	Answer   Answer   `json:"answer,omitzero"`
}

// A Form is the shape of an answer.
type Form uint8

// The forms, and the JSON that each is.
const (
	NotGiven  Form = iota // nothing
	Skipped               // null
	OneItem               // an object
	SomeItems             // a list of objects
	OneNumber             // a number
	SomeText              // a string
)

// An Answer is what was given to a question. The form says which field counts.
// The zero Answer was not given.
type Answer struct {
	Form   Form
	Items  []Item // one for OneItem
	Number int
	Text   string
}

// An Item is something that was chosen. Of a knowledge list it has the name that it
// had then; the question has those of its options.
type Item struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// ChoiceID is present, absent or unknown for a symptom.
	ChoiceID string `json:"choice_id,omitempty"`
}

// IsZero reports whether nothing was given, not even null.
func (a Answer) IsZero() bool { return a.Form == NotGiven }

// MarshalJSON writes the value that was given.
func (a Answer) MarshalJSON() ([]byte, error) {
	switch a.Form {
	case NotGiven, Skipped:
		return []byte("null"), nil
	case OneItem:
		return json.Marshal(a.Items[0])
	case SomeItems:
		return json.Marshal(a.Items)
	case OneNumber:
		return json.Marshal(a.Number)
	default:
		return json.Marshal(a.Text)
	}
}

// UnmarshalJSON reads what MarshalJSON writes; null is Skipped.
func (a *Answer) UnmarshalJSON(value []byte) error {
	*a = Answer{}
	switch first := bytes.TrimLeft(value, " \t\r\n"); {
	case len(first) == 0:
		return fmt.Errorf("reading an answer: expected a JSON value, got nothing")
	case first[0] == 'n':
		a.Form = Skipped
		return nil
	case first[0] == '{':
		a.Form, a.Items = OneItem, make([]Item, 1)
		return json.Unmarshal(value, &a.Items[0])
	case first[0] == '[':
		a.Form = SomeItems
		return json.Unmarshal(value, &a.Items)
	case first[0] == '"':
		a.Form = SomeText
		return json.Unmarshal(value, &a.Text)
	default:
		a.Form = OneNumber
		return json.Unmarshal(value, &a.Number)
	}
}

// UserAnswer is what clients are shown as the answer to a question: what was
// given, or what is chosen already. Symptoms have their names, as the contract
// has them; whatever else was chosen has its id, as it was sent.
func (s *Step) UserAnswer() Answer {
	switch {
	case s.Answer.IsZero() && s.Question.Selected != nil:
		return Answer{Form: SomeItems, Items: s.Question.Selected}
	case s.Question.AnswerType == Symptoms:
		return s.Named()
	default:
		return s.Answer.rename(func(Item) string { return "" })
	}
}

// Named is the answer with the names of all that was chosen.
func (s *Step) Named() Answer {
	return s.Answer.rename(func(item Item) string {
		for _, option := range s.Question.Meta.Options {
			if option.ID == item.ID {
				return option.Label
			}
		}
		return item.Name
	})
}

// rename is a copy of an answer with other names.
func (a Answer) rename(name func(Item) string) Answer {
	if a.Items == nil {
		return a
	}
	items := make([]Item, len(a.Items))
	for i, item := range a.Items {
		items[i] = Item{ID: item.ID, Name: name(item), ChoiceID: item.ChoiceID}
	}
	a.Items = items
	return a
}

// Answered are the steps that have an answer: all but the current question.
func Answered(steps []Step) []Step {
	if last := len(steps) - 1; last >= 0 && steps[last].Answer.IsZero() {
		return steps[:last]
	}
	return steps
}
