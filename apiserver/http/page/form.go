// SPDX-License-Identifier: Apache-2.0

package page

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// Form fields of an answer. Fields for the items of a group end with the item's ID.
const (
	answerField     = "answer"
	itemFieldPrefix = "answer-"
)

// Choices other than the options of the question. No option ID begins with a hyphen.
const (
	noneValue    = "-none"
	unknownValue = "-unknown"
)

// choiceSeparator separates the ID of a list item from its choice. The default choice is
// present.
const choiceSeparator = "~"

// A formError is a validation error of a form: a message ID and the values of its
// placeholders.
type formError struct {
	MessageID string
	Values    []string
}

// readAnswer returns the answer in a submitted form, depending on the pressed button.
func readAnswer(q *record.Question, form url.Values) (record.Answer, *formError) {
	if form.Get(actionField) == actionSkip {
		return skipped, nil
	}
	return answerFromForm(q, form)
}

// skipped is the answer that skips a question.
var skipped = record.Answer{Kind: record.KindSkipped}

// answerFromForm returns the answer in a form. It returns a formError for errors specific to
// forms; the survey service validates the rest.
func answerFromForm(q *record.Question, form url.Values) (record.Answer, *formError) {
	switch q.AnswerType {
	case record.AnswerChoice:
		return choiceAnswer(q, form.Get(answerField))
	case record.AnswerMultipleChoice, record.AnswerList:
		return itemsAnswer(q, form[answerField])
	case record.AnswerNumber:
		return numberAnswer(q, strings.TrimSpace(form.Get(answerField)))
	case record.AnswerText:
		return textAnswer(q, form.Get(answerField))
	}
	switch q.Meta.Component {
	case record.ComponentGroupSingle:
		return groupSingleAnswer(q, form.Get(answerField))
	case record.ComponentGroupMultiple:
		return groupMultipleAnswer(q, form)
	default:
		return singleAnswer(q, form.Get(answerField))
	}
}

// newItems returns an answer with selected items.
func newItems(list []record.Item) record.Answer {
	return record.Answer{Kind: record.KindItems, Items: list}
}

// invalid returns a formError without an answer.
func invalid(messageID string, namesAndValues ...string) (record.Answer, *formError) {
	return record.Answer{}, &formError{messageID, namesAndValues}
}

func choiceAnswer(q *record.Question, chosen string) (record.Answer, *formError) {
	switch {
	case chosen != "":
		return record.Answer{Kind: record.KindItem, Items: []record.Item{{ID: chosen}}}, nil
	case q.Meta.Required:
		return invalid("error.choice")
	}
	return skipped, nil
}

func itemsAnswer(q *record.Question, chosen []string) (record.Answer, *formError) {
	switch {
	case len(chosen) == 0 && !q.Meta.Required:
		return skipped, nil
	case len(chosen) == 0 && q.AnswerType == record.AnswerList:
		return invalid("error.list")
	case len(chosen) == 0:
		return invalid("error.items")
	case len(chosen) > section.MaxItems:
		return invalid("error.too-many", "max", strconv.Itoa(section.MaxItems))
	}
	list := make([]record.Item, len(chosen))
	for i, text := range chosen {
		list[i].ID, list[i].ChoiceID, _ = strings.Cut(text, choiceSeparator)
	}
	return newItems(list), nil
}

func numberAnswer(q *record.Question, text string) (record.Answer, *formError) {
	if text == "" && !q.Meta.Required {
		return skipped, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < q.Meta.Bounds.Min || number > q.Meta.Bounds.Max {
		return invalid("error.number", "min", strconv.Itoa(q.Meta.Bounds.Min), "max", strconv.Itoa(q.Meta.Bounds.Max))
	}
	return record.Answer{Kind: record.KindNumber, Number: number}, nil
}

// newlineReplacer reverts the newline normalization of submitted forms.
var newlineReplacer = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// normalizeText returns a text as typed, without leading and trailing whitespace.
func normalizeText(text string) string { return strings.TrimSpace(newlineReplacer.Replace(text)) }

func textAnswer(q *record.Question, text string) (record.Answer, *formError) {
	text = normalizeText(text)
	switch {
	case text == "" && !q.Meta.Required:
		return skipped, nil
	case text == "":
		return invalid("error.required")
	case utf8.RuneCountInString(text) > q.Meta.MaxLength:
		return invalid("error.text", "max", strconv.Itoa(q.Meta.MaxLength))
	}
	return record.Answer{Kind: record.KindText, Text: text}, nil
}

func singleAnswer(q *record.Question, choice string) (record.Answer, *formError) {
	if choice == "" {
		return invalid("error.choice")
	}
	return newItems([]record.Item{{ID: q.Meta.Options[0].ID, ChoiceID: choice}}), nil
}

func groupSingleAnswer(q *record.Question, chosen string) (record.Answer, *formError) {
	switch chosen {
	case "":
		return invalid("error.choice")
	case noneValue:
		return newItems([]record.Item{}), nil
	case unknownValue:
		list := make([]record.Item, len(q.Meta.Options))
		for i, option := range q.Meta.Options {
			list[i] = record.Item{ID: option.ID, ChoiceID: record.ChoiceUnknown}
		}
		return newItems(list), nil
	}
	return newItems([]record.Item{{ID: chosen, ChoiceID: record.ChoicePresent}}), nil
}

// groupMultipleAnswer requires an answer for at least one item, because a patient who answers
// none may have overlooked the items.
func groupMultipleAnswer(q *record.Question, form url.Values) (record.Answer, *formError) {
	var list []record.Item
	for _, option := range q.Meta.Options {
		if choice := form.Get(itemFieldPrefix + option.ID); choice != "" {
			list = append(list, record.Item{ID: option.ID, ChoiceID: choice})
		}
	}
	if len(list) == 0 {
		return invalid("error.required")
	}
	return newItems(list), nil
}

// formFromAnswer returns the form values of an answer. It is the inverse of answerFromForm.
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

// groupSingleChoice returns the item selected in a single-choice group.
func groupSingleChoice(items []record.Item) string {
	chosen := noneValue
	for _, item := range items {
		switch item.ChoiceID {
		case record.ChoicePresent:
			return item.ID
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
