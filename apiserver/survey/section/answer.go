// SPDX-License-Identifier: Apache-2.0

package section

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// answerField is the name of the answer field in requests.
const answerField = "answer"

// ParseAnswer parses the JSON answer to a question and validates it against the question. The
// answer is nil if absent. Errors are of type *assessment.FieldError and contain the allowed
// values.
func ParseAnswer(question *record.Question, raw json.RawMessage, lists Lists) (record.Answer, error) {
	parser := answerParser{question, lists}
	switch text := strings.TrimSpace(string(raw)); {
	case text == "":
		return record.Answer{}, parser.fieldError(answerField, "missing")
	case text == "null" && question.Meta.Required:
		return record.Answer{}, parser.fieldError(answerField, "null: a required question cannot be skipped")
	case text == "null":
		return record.Answer{Kind: record.KindSkipped}, nil
	}
	answer, err := parser.parse(raw)
	if err != nil {
		return record.Answer{}, err
	}
	return answer, nil
}

// An answerParser validates answers to one question.
type answerParser struct {
	*record.Question
	lists Lists
}

func (p answerParser) parse(raw json.RawMessage) (record.Answer, error) {
	switch p.AnswerType {
	case record.AnswerChoice:
		return p.parseChoice(raw)
	case record.AnswerMultipleChoice:
		return p.parseMultipleChoice(raw)
	case record.AnswerNumber:
		return p.parseNumber(raw)
	case record.AnswerList:
		return p.parseList(raw)
	case record.AnswerText:
		return p.parseText(raw)
	default:
		return p.parseSymptoms(raw)
	}
}

// fieldError returns an error for the given part of an answer; got describes the invalid
// value.
func (p answerParser) fieldError(part, got string) error {
	return &assessment.FieldError{Field: part, Problem: "expected " + p.expectation() + ", got " + got}
}

// expectation describes a valid answer to the question.
func (p answerParser) expectation() string {
	switch p.AnswerType {
	case record.AnswerChoice:
		return `{"id"} with one of ` + joinIDs(p.Meta.Options)
	case record.AnswerMultipleChoice:
		return `a list of {"id"}, each with one of ` + joinIDs(p.Meta.Options)
	case record.AnswerNumber:
		return fmt.Sprintf("a whole number from %d to %d", p.Meta.Bounds.Min, p.Meta.Bounds.Max)
	case record.AnswerList:
		return p.listExpectation()
	case record.AnswerText:
		return fmt.Sprintf("a string of %d to %d characters", p.minLength(), p.Meta.MaxLength)
	default:
		return p.symptomsExpectation()
	}
}

// minLength returns the minimum number of items or characters in an answer.
func (p answerParser) minLength() int {
	if p.Meta.Required {
		return 1
	}
	return 0
}

// joinIDs returns a comma-separated list of the option IDs.
func joinIDs(options []record.Option) string {
	list := make([]string, len(options))
	for i, option := range options {
		list[i] = option.ID
	}
	return strings.Join(list, ", ")
}

// hasOption reports whether an ID is one of the options.
func hasOption(options []record.Option, id string) bool {
	return slices.ContainsFunc(options, func(o record.Option) bool { return o.ID == id })
}

// describeJSON describes a JSON value without repeating content that may be long or
// private.
func describeJSON(raw json.RawMessage) string {
	switch text := strings.TrimSpace(string(raw)); {
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
	case json.Valid(raw):
		return "the number " + assessment.Truncate(text)
	default:
		return "invalid JSON"
	}
}
