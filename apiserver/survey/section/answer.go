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

// ParseAnswer parses the JSON submitted as the answer to a question (nil if absent)
// and validates it against the question. The error is an *assessment.FieldError that
// names the allowed values.
func ParseAnswer(question *record.Question, sent json.RawMessage, lists Lists) (record.Answer, error) {
	j := answerParser{question, lists}
	switch text := strings.TrimSpace(string(sent)); {
	case text == "":
		return record.Answer{}, j.fieldError(answerField, "missing")
	case text == "null" && question.Meta.Required:
		return record.Answer{}, j.fieldError(answerField, "null: a required question cannot be skipped")
	case text == "null":
		return record.Answer{Kind: record.KindSkipped}, nil
	}
	answer, err := j.parse(sent)
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

func (j answerParser) parse(sent json.RawMessage) (record.Answer, error) {
	switch j.AnswerType {
	case record.AnswerChoice:
		return j.parseChoice(sent)
	case record.AnswerMultipleChoice:
		return j.parseMultipleChoice(sent)
	case record.AnswerNumber:
		return j.parseNumber(sent)
	case record.AnswerList:
		return j.parseList(sent)
	case record.AnswerText:
		return j.parseText(sent)
	default:
		return j.parseSymptoms(sent)
	}
}

// fieldError returns the error for a part of an answer; got describes the value found
// there.
func (j answerParser) fieldError(part, got string) error {
	return &assessment.FieldError{Field: part, Problem: "expected " + j.expectation() + ", got " + got}
}

// expectation describes a valid answer to the question.
func (j answerParser) expectation() string {
	switch j.AnswerType {
	case record.AnswerChoice:
		return `{"id"} with one of ` + joinIDs(j.Meta.Options)
	case record.AnswerMultipleChoice:
		return `a list of {"id"}, each with one of ` + joinIDs(j.Meta.Options)
	case record.AnswerNumber:
		return fmt.Sprintf("a whole number from %d to %d", j.Meta.Bounds.Min, j.Meta.Bounds.Max)
	case record.AnswerList:
		return j.listExpectation()
	case record.AnswerText:
		return fmt.Sprintf("a string of %d to %d characters", j.minLength(), j.Meta.MaxLength)
	default:
		return j.symptomsExpectation()
	}
}

// minLength returns the minimum number of items or characters in an answer.
func (j answerParser) minLength() int {
	if j.Meta.Required {
		return 1
	}
	return 0
}

// joinIDs returns the IDs of the options as a list.
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
