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
func ParseAnswer(question *record.Question, sent json.RawMessage, lists Lists) (record.Answer, error) {
	parser := answerParser{question, lists}
	switch text := strings.TrimSpace(string(sent)); {
	case text == "":
		return record.Answer{}, parser.fieldError(answerField, "missing")
	case text == "null" && question.Meta.Required:
		return record.Answer{}, parser.fieldError(answerField, "null: a required question cannot be skipped")
	case text == "null":
		return record.Answer{Kind: record.KindSkipped}, nil
	}
	answer, err := parser.parse(sent)
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

func (parser answerParser) parse(sent json.RawMessage) (record.Answer, error) {
	switch parser.AnswerType {
	case record.AnswerChoice:
		return parser.parseChoice(sent)
	case record.AnswerMultipleChoice:
		return parser.parseMultipleChoice(sent)
	case record.AnswerNumber:
		return parser.parseNumber(sent)
	case record.AnswerList:
		return parser.parseList(sent)
	case record.AnswerText:
		return parser.parseText(sent)
	default:
		return parser.parseSymptoms(sent)
	}
}

// fieldError returns an error for the given part of an answer; got describes the invalid
// value.
func (parser answerParser) fieldError(part, got string) error {
	return &assessment.FieldError{Field: part, Problem: "expected " + parser.expectation() + ", got " + got}
}

// expectation describes a valid answer to the question.
func (parser answerParser) expectation() string {
	switch parser.AnswerType {
	case record.AnswerChoice:
		return `{"id"} with one of ` + joinIDs(parser.Meta.Options)
	case record.AnswerMultipleChoice:
		return `a list of {"id"}, each with one of ` + joinIDs(parser.Meta.Options)
	case record.AnswerNumber:
		return fmt.Sprintf("a whole number from %d to %d", parser.Meta.Bounds.Min, parser.Meta.Bounds.Max)
	case record.AnswerList:
		return parser.listExpectation()
	case record.AnswerText:
		return fmt.Sprintf("a string of %d to %d characters", parser.minLength(), parser.Meta.MaxLength)
	default:
		return parser.symptomsExpectation()
	}
}

// minLength returns the minimum number of items or characters in an answer.
func (parser answerParser) minLength() int {
	if parser.Meta.Required {
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
func describeJSON(sent json.RawMessage) string {
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
		return "the number " + assessment.Truncate(text)
	default:
		return "invalid JSON"
	}
}
