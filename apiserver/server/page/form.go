// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
)

// The fields of a form that answers a question. Those about the items of a group have
// the id of the item behind.
const (
	answerField = "answer"
	itemField   = "answer-"
)

// What is chosen that is no option. No id begins with a hyphen.
const (
	noneOfThese = "-none"
	notKnown    = "-unknown"
)

// besides parts the id of an item of a list from its choice, where that is not present.
const besides = "~"

// A problem says what is wrong with a form: the id of a text, and the values in it.
type problem struct {
	Text   string
	Values []string
}

// skipped is the answer of who skips a question.
const skipped = "null"

// givenBy is the answer of who sends a form off, with the button that was pressed.
func givenBy(q *guidance.Question, form url.Values) (json.RawMessage, *problem) {
	if form.Get(doField) == doSkip {
		return json.RawMessage(skipped), nil
	}
	return answerOf(q, form)
}

// answerOf is the answer that a form gives to a question, in the JSON of the API. The
// problem says what a form cannot say; the rest is judged by who takes the answer.
func answerOf(q *guidance.Question, form url.Values) (json.RawMessage, *problem) {
	value, wrong := valueOf(q, form)
	if wrong != nil {
		return nil, wrong
	}
	answer, err := json.Marshal(value)
	if err != nil {
		return nil, &problem{Text: "error.other"}
	}
	return answer, nil
}

func valueOf(q *guidance.Question, form url.Values) (any, *problem) {
	switch q.AnswerType {
	case guidance.Choice:
		return choiceOf(q, form.Get(answerField))
	case guidance.MultipleChoice, guidance.List:
		return itemsOf(q, form[answerField])
	case guidance.Number:
		return numberOf(q, strings.TrimSpace(form.Get(answerField)))
	case guidance.Text:
		return textOf(q, form.Get(answerField))
	}
	switch q.Meta.Component {
	case guidance.GroupSingle:
		return oneOfGroup(q, form.Get(answerField))
	case guidance.GroupMultiple:
		return eachOfGroup(q, form)
	default:
		return single(q, form.Get(answerField))
	}
}

// An item is one as the API takes it.
type item struct {
	ID       string `json:"id"`
	ChoiceID string `json:"choice_id,omitempty"`
}

func choiceOf(q *guidance.Question, chosen string) (any, *problem) {
	switch {
	case chosen != "":
		return item{ID: chosen}, nil
	case q.Meta.Required:
		return nil, &problem{Text: "error.choice"}
	}
	return nil, nil
}

func itemsOf(q *guidance.Question, chosen []string) (any, *problem) {
	if len(chosen) == 0 {
		switch {
		case !q.Meta.Required:
			return nil, nil
		case q.AnswerType == guidance.List:
			return nil, &problem{Text: "error.list"}
		}
		return nil, &problem{Text: "error.items"}
	}
	if len(chosen) > section.MostItems {
		return nil, &problem{"error.too-many", []string{"max", strconv.Itoa(section.MostItems)}}
	}
	items := make([]item, len(chosen))
	for i, text := range chosen {
		id, choice, _ := strings.Cut(text, besides)
		items[i] = item{id, choice}
	}
	return items, nil
}

func numberOf(q *guidance.Question, text string) (any, *problem) {
	if text == "" && !q.Meta.Required {
		return nil, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < q.Meta.Bounds.Min || number > q.Meta.Bounds.Max {
		return nil, &problem{"error.number", []string{"min", strconv.Itoa(q.Meta.Bounds.Min), "max", strconv.Itoa(q.Meta.Bounds.Max)}}
	}
	return number, nil
}

// endsOfLines makes the ends of lines what they were before a form was sent.
var endsOfLines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// plain is a text as it was typed, without the blanks around it.
func plain(text string) string { return strings.TrimSpace(endsOfLines.Replace(text)) }

func textOf(q *guidance.Question, text string) (any, *problem) {
	text = plain(text)
	switch {
	case text == "" && !q.Meta.Required:
		return nil, nil
	case text == "":
		return nil, &problem{Text: "error.required"}
	case utf8.RuneCountInString(text) > q.Meta.MaxLength:
		return nil, &problem{"error.text", []string{"max", strconv.Itoa(q.Meta.MaxLength)}}
	}
	return text, nil
}

func single(q *guidance.Question, choice string) (any, *problem) {
	if choice == "" {
		return nil, &problem{Text: "error.choice"}
	}
	return []item{{q.Meta.Options[0].ID, choice}}, nil
}

func oneOfGroup(q *guidance.Question, chosen string) (any, *problem) {
	switch chosen {
	case "":
		return nil, &problem{Text: "error.choice"}
	case noneOfThese:
		return []item{}, nil
	case notKnown:
		items := make([]item, len(q.Meta.Options))
		for i, option := range q.Meta.Options {
			items[i] = item{option.ID, guidance.Unknown}
		}
		return items, nil
	}
	return []item{{chosen, guidance.Present}}, nil
}

// eachOfGroup wants an answer to some item; who leaves all out may have overlooked them.
func eachOfGroup(q *guidance.Question, form url.Values) (any, *problem) {
	var items []item
	for _, option := range q.Meta.Options {
		if choice := form.Get(itemField + option.ID); choice != "" {
			items = append(items, item{option.ID, choice})
		}
	}
	if len(items) == 0 {
		return nil, &problem{Text: "error.required"}
	}
	return items, nil
}

// formOf is the form that gives an answer: answerOf reads it back.
func formOf(q *guidance.Question, answer guidance.Answer) url.Values {
	form := url.Values{}
	switch answer.Form {
	case guidance.OneNumber:
		form.Set(answerField, strconv.Itoa(answer.Number))
	case guidance.SomeText:
		form.Set(answerField, answer.Text)
	case guidance.OneItem, guidance.SomeItems:
		fillItems(form, q, answer.Items)
	case guidance.NotGiven, guidance.Skipped:
	}
	return form
}

func fillItems(form url.Values, q *guidance.Question, items []guidance.Item) {
	switch {
	case q.AnswerType != guidance.Symptoms:
		for _, chosen := range items {
			form.Add(answerField, listValue(chosen))
		}
	case q.Meta.Component == guidance.Single && len(items) == 1:
		form.Set(answerField, items[0].ChoiceID)
	case q.Meta.Component == guidance.GroupSingle:
		form.Set(answerField, chosenOfGroup(items))
	default:
		for _, chosen := range items {
			form.Set(itemField+chosen.ID, chosen.ChoiceID)
		}
	}
}

// chosenOfGroup is which of a group was chosen of which one holds.
func chosenOfGroup(items []guidance.Item) string {
	chosen := noneOfThese
	for _, one := range items {
		switch one.ChoiceID {
		case guidance.Present:
			return one.ID
		case guidance.Unknown:
			chosen = notKnown
		}
	}
	return chosen
}

// listValue is what a form says for an item of a list.
func listValue(chosen guidance.Item) string {
	if chosen.ChoiceID == "" || chosen.ChoiceID == guidance.Present {
		return chosen.ID
	}
	return chosen.ID + besides + chosen.ChoiceID
}
