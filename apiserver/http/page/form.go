// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// Fields of a form that answers a question. Fields for the items of a group end with the
// item's ID.
const (
	answerField     = "answer"
	itemFieldPrefix = "answer-"
)

// Choices that are not options of the question. No ID begins with a hyphen.
const (
	noneValue    = "-none"
	unknownValue = "-unknown"
)

// choiceSeparator separates the ID of a list item from its choice. Without one, the choice is
// present.
const choiceSeparator = "~"

// A formError is a validation error of a form: a message ID and the values of its
// placeholders.
type formError struct {
	MessageID string
	Values    []string
}

// skippedAnswer is the answer that skips a question.
const skippedAnswer = "null"

// readAnswer returns the answer of a submitted form, depending on the button pressed.
func readAnswer(q *record.Question, form url.Values) (json.RawMessage, *formError) {
	if form.Get(actionField) == actionSkip {
		return json.RawMessage(skippedAnswer), nil
	}
	return answerFromForm(q, form)
}

// answerFromForm returns the answer in a form, in the JSON of the API. It returns a formError
// for mistakes specific to forms; the survey service validates the rest.
func answerFromForm(q *record.Question, form url.Values) (json.RawMessage, *formError) {
	value, wrong := formValue(q, form)
	if wrong != nil {
		return nil, wrong
	}
	answer, err := json.Marshal(value)
	if err != nil {
		return nil, &formError{MessageID: "error.other"}
	}
	return answer, nil
}

func formValue(q *record.Question, form url.Values) (any, *formError) {
	switch q.AnswerType {
	case record.AnswerChoice:
		return choiceValue(q, form.Get(answerField))
	case record.AnswerMultipleChoice, record.AnswerList:
		return itemsValue(q, form[answerField])
	case record.AnswerNumber:
		return numberValue(q, strings.TrimSpace(form.Get(answerField)))
	case record.AnswerText:
		return textValue(q, form.Get(answerField))
	}
	switch q.Meta.Component {
	case record.ComponentGroupSingle:
		return groupSingleValue(q, form.Get(answerField))
	case record.ComponentGroupMultiple:
		return groupMultipleValue(q, form)
	default:
		return singleValue(q, form.Get(answerField))
	}
}

// An item is an item as the API accepts it.
type item struct {
	ID       string `json:"id"`
	ChoiceID string `json:"choice_id,omitempty"`
}

func choiceValue(q *record.Question, chosen string) (any, *formError) {
	switch {
	case chosen != "":
		return item{ID: chosen}, nil
	case q.Meta.Required:
		return nil, &formError{MessageID: "error.choice"}
	}
	return nil, nil
}

func itemsValue(q *record.Question, chosen []string) (any, *formError) {
	if len(chosen) == 0 {
		switch {
		case !q.Meta.Required:
			return nil, nil
		case q.AnswerType == record.AnswerList:
			return nil, &formError{MessageID: "error.list"}
		}
		return nil, &formError{MessageID: "error.items"}
	}
	if len(chosen) > section.MaxItems {
		return nil, &formError{"error.too-many", []string{"max", strconv.Itoa(section.MaxItems)}}
	}
	items := make([]item, len(chosen))
	for i, text := range chosen {
		id, choice, _ := strings.Cut(text, choiceSeparator)
		items[i] = item{id, choice}
	}
	return items, nil
}

func numberValue(q *record.Question, text string) (any, *formError) {
	if text == "" && !q.Meta.Required {
		return nil, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < q.Meta.Bounds.Min || number > q.Meta.Bounds.Max {
		return nil, &formError{"error.number", []string{"min", strconv.Itoa(q.Meta.Bounds.Min), "max", strconv.Itoa(q.Meta.Bounds.Max)}}
	}
	return number, nil
}

// newlineReplacer undoes the newline normalization of submitted forms.
var newlineReplacer = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// normalizeText returns a text as it was typed, without leading and trailing spaces.
func normalizeText(text string) string { return strings.TrimSpace(newlineReplacer.Replace(text)) }

func textValue(q *record.Question, text string) (any, *formError) {
	text = normalizeText(text)
	switch {
	case text == "" && !q.Meta.Required:
		return nil, nil
	case text == "":
		return nil, &formError{MessageID: "error.required"}
	case utf8.RuneCountInString(text) > q.Meta.MaxLength:
		return nil, &formError{"error.text", []string{"max", strconv.Itoa(q.Meta.MaxLength)}}
	}
	return text, nil
}

func singleValue(q *record.Question, choice string) (any, *formError) {
	if choice == "" {
		return nil, &formError{MessageID: "error.choice"}
	}
	return []item{{q.Meta.Options[0].ID, choice}}, nil
}

func groupSingleValue(q *record.Question, chosen string) (any, *formError) {
	switch chosen {
	case "":
		return nil, &formError{MessageID: "error.choice"}
	case noneValue:
		return []item{}, nil
	case unknownValue:
		items := make([]item, len(q.Meta.Options))
		for i, option := range q.Meta.Options {
			items[i] = item{option.ID, record.ChoiceUnknown}
		}
		return items, nil
	}
	return []item{{chosen, record.ChoicePresent}}, nil
}

// groupMultipleValue requires an answer for at least one item, because a patient who answers
// none may have overlooked them.
func groupMultipleValue(q *record.Question, form url.Values) (any, *formError) {
	var items []item
	for _, option := range q.Meta.Options {
		if choice := form.Get(itemFieldPrefix + option.ID); choice != "" {
			items = append(items, item{option.ID, choice})
		}
	}
	if len(items) == 0 {
		return nil, &formError{MessageID: "error.required"}
	}
	return items, nil
}

// formFromAnswer returns the form values for an answer. It is the inverse of answerFromForm.
func formFromAnswer(q *record.Question, answer record.Answer) url.Values {
	form := url.Values{}
	switch answer.Kind {
	case record.KindNumber:
		form.Set(answerField, strconv.Itoa(answer.Number))
	case record.KindText:
		form.Set(answerField, answer.Text)
	case record.KindItem, record.KindItems:
		fillItems(form, q, answer.Items)
	case record.KindNone, record.KindSkipped:
	}
	return form
}

func fillItems(form url.Values, q *record.Question, items []record.Item) {
	switch {
	case q.AnswerType != record.AnswerSymptoms:
		for _, chosen := range items {
			form.Add(answerField, encodeListItem(chosen))
		}
	case q.Meta.Component == record.ComponentSingle && len(items) == 1:
		form.Set(answerField, items[0].ChoiceID)
	case q.Meta.Component == record.ComponentGroupSingle:
		form.Set(answerField, groupSingleChoice(items))
	default:
		for _, chosen := range items {
			form.Set(itemFieldPrefix+chosen.ID, chosen.ChoiceID)
		}
	}
}

// groupSingleChoice returns the item chosen in a group with a single answer.
func groupSingleChoice(items []record.Item) string {
	chosen := noneValue
	for _, one := range items {
		switch one.ChoiceID {
		case record.ChoicePresent:
			return one.ID
		case record.ChoiceUnknown:
			chosen = unknownValue
		}
	}
	return chosen
}

// encodeListItem returns the form value of a list item.
func encodeListItem(chosen record.Item) string {
	if chosen.ChoiceID == "" || chosen.ChoiceID == record.ChoicePresent {
		return chosen.ID
	}
	return chosen.ID + choiceSeparator + chosen.ChoiceID
}
