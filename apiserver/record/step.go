// SPDX-License-Identifier: Apache-2.0

package record

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A Step is a question as asked, with the answer as given. The last step of an open
// survey is its current question, which has no answer yet.
type Step struct {
	Question Question `json:"question"`
	Answer   Answer   `json:"answer,omitzero"`
}

// An AnswerKind is the shape of an answer.
type AnswerKind uint8

// The answer kinds, and the JSON form of each.
const (
	KindNone    AnswerKind = iota // nothing
	KindSkipped                   // null
	KindItem                      // an object
	KindItems                     // a list of objects
	KindNumber                    // a number
	KindText                      // a string
)

// An Answer is the answer to a question. Kind determines the field that is set. The zero
// Answer means not answered.
type Answer struct {
	Kind   AnswerKind
	Items  []Item // exactly one for KindItem
	Number int
	Text   string
}

// An Item is a selected item. An item from a knowledge list carries the name it had
// when it was selected; the names of options are in the question.
type Item struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// ChoiceID is present, absent or unknown for a symptom.
	ChoiceID string `json:"choice_id,omitempty"`
}

// IsZero reports whether there is no answer at all, not even null.
func (a Answer) IsZero() bool { return a.Kind == KindNone }

// MarshalJSON encodes the answer as the client sent it.
func (a Answer) MarshalJSON() ([]byte, error) {
	switch a.Kind {
	case KindNone, KindSkipped:
		return []byte("null"), nil
	case KindItem:
		return json.Marshal(a.Items[0])
	case KindItems:
		return json.Marshal(a.Items)
	case KindNumber:
		return json.Marshal(a.Number)
	default:
		return json.Marshal(a.Text)
	}
}

// UnmarshalJSON decodes the output of MarshalJSON. A null becomes KindSkipped.
func (a *Answer) UnmarshalJSON(value []byte) error {
	*a = Answer{}
	switch first := bytes.TrimLeft(value, " \t\r\n"); {
	case len(first) == 0:
		return fmt.Errorf("decoding answer: expected a JSON value, got empty input")
	case first[0] == 'n':
		a.Kind = KindSkipped
		return nil
	case first[0] == '{':
		a.Kind, a.Items = KindItem, make([]Item, 1)
		return json.Unmarshal(value, &a.Items[0])
	case first[0] == '[':
		a.Kind = KindItems
		return json.Unmarshal(value, &a.Items)
	case first[0] == '"':
		a.Kind = KindText
		return json.Unmarshal(value, &a.Text)
	default:
		a.Kind = KindNumber
		return json.Unmarshal(value, &a.Number)
	}
}

// UserAnswer returns the answer shown to clients: the submitted answer or, if not
// answered yet, the preselected items. As the contract requires, symptoms carry their names;
// all other items carry only the ID that was sent.
func (s *Step) UserAnswer() Answer {
	switch {
	case s.Answer.IsZero() && s.Question.Selected != nil:
		return Answer{Kind: KindItems, Items: s.Question.Selected}
	case s.Question.AnswerType == AnswerSymptoms:
		return s.NamedAnswer()
	default:
		return s.Answer.withNames(func(Item) string { return "" })
	}
}

// NamedAnswer returns the answer with the names of all selected items.
func (s *Step) NamedAnswer() Answer {
	return s.Answer.withNames(func(item Item) string {
		for _, option := range s.Question.Meta.Options {
			if option.ID == item.ID {
				return option.Label
			}
		}
		return item.Name
	})
}

// withNames returns a copy of the answer with other item names.
func (a Answer) withNames(name func(Item) string) Answer {
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

// AnsweredSteps returns the steps with an answer: all but the current question.
func AnsweredSteps(steps []Step) []Step {
	if last := len(steps) - 1; last >= 0 && steps[last].Answer.IsZero() {
		return steps[:last]
	}
	return steps
}
