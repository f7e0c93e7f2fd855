// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
)

// field is the name of an answer in what clients send.
const field = "answer"

// Judge reads the JSON that was sent as the answer to a question, nil when none
// was, and holds it against what the question takes. Its error is an
// *assessment.FieldError that names what was allowed.
func Judge(question *guidance.Question, sent json.RawMessage, lists Lists) (guidance.Answer, error) {
	j := judge{question, lists}
	switch text := strings.TrimSpace(string(sent)); {
	case text == "":
		return guidance.Answer{}, j.misfit(field, "missing")
	case text == "null" && question.Meta.Required:
		return guidance.Answer{}, j.misfit(field, "null, which skips a question only when it is not required")
	case text == "null":
		return guidance.Answer{Form: guidance.Skipped}, nil
	}
	answer, err := j.read(sent)
	if err != nil {
		return guidance.Answer{}, err
	}
	return answer, nil
}

// judge holds answers against one question.
type judge struct {
	*guidance.Question
	lists Lists
}

func (j judge) read(sent json.RawMessage) (guidance.Answer, error) {
	switch j.AnswerType {
	case guidance.Choice:
		return j.choice(sent)
	case guidance.MultipleChoice:
		return j.multipleChoice(sent)
	case guidance.Number:
		return j.number(sent)
	case guidance.List:
		return j.list(sent)
	case guidance.Text:
		return j.text(sent)
	default:
		return j.symptoms(sent)
	}
}

// misfit is the error about a part of an answer, what was there in the end.
func (j judge) misfit(part, got string) error {
	return &assessment.FieldError{Field: part, Problem: "expected " + j.expected() + ", got " + got}
}

// expected says what an answer to the question is.
func (j judge) expected() string {
	switch j.AnswerType {
	case guidance.Choice:
		return `{"id"} with one of ` + ids(j.Meta.Options)
	case guidance.MultipleChoice:
		return `a list of {"id"}, each with one of ` + ids(j.Meta.Options)
	case guidance.Number:
		return fmt.Sprintf("a whole number from %d to %d", j.Meta.Bounds.Min, j.Meta.Bounds.Max)
	case guidance.List:
		return j.expectedOfList()
	case guidance.Text:
		return fmt.Sprintf("a string of %d to %d characters", j.fewest(), j.Meta.MaxLength)
	default:
		return j.expectedOfSymptoms()
	}
}

// fewest is how many items or characters an answer must have.
func (j judge) fewest() int {
	if j.Meta.Required {
		return 1
	}
	return 0
}

// ids lists the ids of options.
func ids(options []guidance.Option) string {
	list := make([]string, len(options))
	for i, option := range options {
		list[i] = option.ID
	}
	return strings.Join(list, ", ")
}

// has reports whether an id is one of the options.
func has(options []guidance.Option, id string) bool {
	return slices.ContainsFunc(options, func(o guidance.Option) bool { return o.ID == id })
}

// kind says what a JSON value is, without repeating what may be long or private.
func kind(sent json.RawMessage) string {
	switch text := strings.TrimSpace(string(sent)); {
	case text == "null":
		return "null"
	case strings.HasPrefix(text, "{"):
		return "an object"
	case strings.HasPrefix(text, "["):
		return "a list"
	case strings.HasPrefix(text, `"`):
		return "a string"
	case text == "true" || text == "false":
		return text
	case json.Valid(sent):
		return "the number " + assessment.Shorten(text)
	default:
		return "what is not JSON"
	}
}
