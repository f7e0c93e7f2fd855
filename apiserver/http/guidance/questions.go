// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
)

// ListAnswers implements contract.StrictServerInterface.
func (h handlers) ListAnswers(ctx context.Context, request contract.ListAnswersRequestObject) (contract.ListAnswersResponseObject, error) {
	requested, fieldErrs := readPagination(ctx, request.Params.Limit, request.Params.Cursor)
	if len(fieldErrs) > 0 {
		return nil, validationError(fieldErrs)
	}
	steps, total, err := h.Surveys.ListAnswers(ctx, middleware.PrincipalFrom(ctx), request.SurveyID, requested.page())
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	links, err := requested.links(total)
	if err != nil {
		return nil, err
	}
	response := contract.ListAnswers200JSONResponse{Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next}
	response.Items = make([]contract.AnsweredQuestion, len(steps))
	for i := range steps {
		encodedAnswer, err := encodeAnswer(steps[i].UserAnswer())
		if err != nil {
			return nil, err
		}
		response.Items[i] = contract.AnsweredQuestion{ID: steps[i].Question.ID, Index: steps[i].Question.Index, UserAnswer: encodedAnswer}
	}
	return response, nil
}

// GetCurrentQuestion implements contract.StrictServerInterface.
func (h handlers) GetCurrentQuestion(ctx context.Context, request contract.GetCurrentQuestionRequestObject) (contract.GetCurrentQuestionResponseObject, error) {
	step, err := h.Surveys.Current(ctx, middleware.PrincipalFrom(ctx), request.SurveyID)
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	if step == nil {
		return nil, &flow.ClosedError{}
	}
	question, err := encodeStep(ctx, *step)
	return contract.GetCurrentQuestion200JSONResponse(question), err
}

// AnswerCurrentQuestion implements contract.StrictServerInterface.
func (h handlers) AnswerCurrentQuestion(ctx context.Context, request contract.AnswerCurrentQuestionRequestObject) (contract.AnswerCurrentQuestionResponseObject, error) {
	submission := flow.Submission{Answer: request.Body.Answer}
	if text := stringOrEmpty(request.Params.Index); text != "" {
		index, err := readIndex("index", text)
		if err != nil {
			return nil, err
		}
		submission.Index = &index
	}
	next, err := h.Surveys.Answer(ctx, middleware.PrincipalFrom(ctx), request.SurveyID, submission)
	switch {
	case err != nil:
		return nil, wrapStorageError("surveys", err)
	case next == nil:
		return contract.AnswerCurrentQuestion204Response{}, nil
	}
	question, err := encodeStep(ctx, record.Step{Question: *next})
	return contract.AnswerCurrentQuestion200JSONResponse(question), err
}

// GetQuestion implements contract.StrictServerInterface.
func (h handlers) GetQuestion(ctx context.Context, request contract.GetQuestionRequestObject) (contract.GetQuestionResponseObject, error) {
	index, err := readIndex("question_index", request.QuestionIndex)
	if err != nil {
		return nil, err
	}
	step, err := h.Surveys.StepAt(ctx, middleware.PrincipalFrom(ctx), request.SurveyID, index)
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	question, err := encodeStep(ctx, step)
	return contract.GetQuestion200JSONResponse(question), err
}

// ChangeAnswer implements contract.StrictServerInterface.
func (h handlers) ChangeAnswer(ctx context.Context, request contract.ChangeAnswerRequestObject) (contract.ChangeAnswerResponseObject, error) {
	index, err := readIndex("question_index", request.QuestionIndex)
	if err != nil {
		return nil, err
	}
	next, err := h.Surveys.ChangeAnswer(ctx, middleware.PrincipalFrom(ctx), request.SurveyID, index, request.Body.Answer)
	switch {
	case err != nil:
		return nil, wrapStorageError("surveys", err)
	case next == nil:
		return contract.ChangeAnswer204Response{}, nil
	}
	question, err := encodeStep(ctx, record.Step{Question: *next})
	return contract.ChangeAnswer200JSONResponse(question), err
}

// readIndex parses the index of a question in its survey.
func readIndex(field, text string) (int, error) {
	index, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, validationError{{Field: field, Message: "expected a whole number, 0 for the first question"}}
	}
	return int(index), nil
}

// encodeStep encodes a question as it was asked, with its options and the answer.
func encodeStep(ctx context.Context, step record.Step) (contract.Question, error) {
	q := &step.Question
	encoded := contract.Question{ID: q.ID, Index: q.Index, AnswerType: contract.AnswerType(q.AnswerType), Meta: encodeMeta(ctx, q)}
	encoded.Question.Text = q.Text
	answer := step.UserAnswer()
	if answer.IsZero() {
		return encoded, nil
	}
	encodedAnswer, err := encodeAnswer(answer)
	encoded.UserAnswer = &encodedAnswer
	return encoded, err
}

func encodeAnswer(answer record.Answer) (contract.UserAnswer, error) {
	value, err := json.Marshal(answer)
	return contract.UserAnswer{Answer: value}, err
}

func encodeMeta(ctx context.Context, q *record.Question) contract.QuestionMeta {
	meta := contract.QuestionMeta{Required: q.Meta.Required}
	if len(q.Meta.Options) > 0 {
		options := make([]contract.PossibleAnswer, len(q.Meta.Options))
		for i, option := range q.Meta.Options {
			options[i] = encodeOption(q, option)
		}
		meta.Answers = &options
	}
	if q.Meta.Component != "" {
		meta.Component = new(contract.QuestionMetaComponent(q.Meta.Component))
	}
	if list := q.Meta.SourceList; list != nil {
		meta.SourceListURL = new(knowledgeURL(ctx, *list))
	}
	if q.Meta.MaxLength > 0 {
		meta.MaxLength = &q.Meta.MaxLength
	}
	if bounds := q.Meta.Bounds; bounds != nil {
		meta.MinValue, meta.MaxValue = &bounds.Min, &bounds.Max
	}
	return meta
}

// encodeOption encodes an option. Choices have a label; symptoms have a name and possible
// choices.
func encodeOption(q *record.Question, option record.Option) contract.PossibleAnswer {
	if q.AnswerType != record.AnswerSymptoms {
		return contract.PossibleAnswer{ID: option.ID, Label: &option.Label}
	}
	choices := make([]contract.PossibleChoice, len(q.Meta.Choices))
	for i, choice := range q.Meta.Choices {
		choices[i] = contract.PossibleChoice{ID: contract.ChoiceID(choice.ID), Label: choice.Label}
	}
	return contract.PossibleAnswer{ID: option.ID, Name: &option.Label, Choices: &choices}
}

// knowledgeURL returns the URL of a knowledge list with the same host and prefix as the
// request.
func knowledgeURL(ctx context.Context, list record.SourceList) string {
	address, _ := ctx.Value(requestURLKey{}).(url.URL)
	prefix, _, _ := strings.Cut(address.Path, "/surveys")
	query := url.Values{"language": {list.Language}}
	if list.Sex != "" {
		query.Set("sex", list.Sex)
	}
	if list.Age.Known() {
		query.Set("age.value", strconv.Itoa(list.Age.Value))
		query.Set("age.unit", list.Age.Unit)
	}
	return (&url.URL{Scheme: address.Scheme, Host: address.Host, Path: prefix + "/knowledge/" + list.Name, RawQuery: query.Encode()}).String()
}
