// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
)

// ListAnswers implements the contract.
func (h handlers) ListAnswers(ctx context.Context, request contract.ListAnswersRequestObject) (contract.ListAnswersResponseObject, error) {
	wanted, wrong := readPage(ctx, request.Params.Limit, request.Params.Cursor)
	if len(wrong) > 0 {
		return nil, refusal(wrong)
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	steps, total, err := h.Surveys.Answers(limited, actor(ctx), request.SurveyID, wanted.surveys())
	if err != nil {
		return nil, kept("surveys", err)
	}
	links, err := wanted.of(total)
	if err != nil {
		return nil, err
	}
	answer := contract.ListAnswers200JSONResponse{Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next}
	answer.Items = make([]contract.AnsweredQuestion, len(steps))
	for i := range steps {
		said, err := describeAnswer(steps[i].UserAnswer())
		if err != nil {
			return nil, err
		}
		answer.Items[i] = contract.AnsweredQuestion{ID: steps[i].Question.ID, Index: steps[i].Question.Index, UserAnswer: said}
	}
	return answer, nil
}

// GetCurrentQuestion implements the contract.
func (h handlers) GetCurrentQuestion(ctx context.Context, request contract.GetCurrentQuestionRequestObject) (contract.GetCurrentQuestionResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	step, err := h.Surveys.Current(limited, actor(ctx), request.SurveyID)
	if err != nil {
		return nil, kept("surveys", err)
	}
	if step == nil {
		return nil, &survey.ClosedError{}
	}
	question, err := describeStep(ctx, *step)
	return contract.GetCurrentQuestion200JSONResponse(question), err
}

// AnswerCurrentQuestion implements the contract.
func (h handlers) AnswerCurrentQuestion(ctx context.Context, request contract.AnswerCurrentQuestionRequestObject) (contract.AnswerCurrentQuestionResponseObject, error) {
	answer := survey.Given{Answer: request.Body.Answer}
	if text := orEmpty(request.Params.Index); text != "" {
		index, err := readIndex("index", text)
		if err != nil {
			return nil, err
		}
		answer.Index = &index
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	next, err := h.Surveys.Answer(limited, actor(ctx), request.SurveyID, answer)
	switch {
	case err != nil:
		return nil, kept("surveys", err)
	case next == nil:
		return contract.AnswerCurrentQuestion204Response{}, nil
	}
	question, err := describeStep(ctx, guidance.Step{Question: *next})
	return contract.AnswerCurrentQuestion200JSONResponse(question), err
}

// GetQuestion implements the contract.
func (h handlers) GetQuestion(ctx context.Context, request contract.GetQuestionRequestObject) (contract.GetQuestionResponseObject, error) {
	index, err := readIndex("question_index", request.QuestionIndex)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	step, err := h.Surveys.At(limited, actor(ctx), request.SurveyID, index)
	if err != nil {
		return nil, kept("surveys", err)
	}
	question, err := describeStep(ctx, step)
	return contract.GetQuestion200JSONResponse(question), err
}

// ChangeAnswer implements the contract.
func (h handlers) ChangeAnswer(ctx context.Context, request contract.ChangeAnswerRequestObject) (contract.ChangeAnswerResponseObject, error) {
	index, err := readIndex("question_index", request.QuestionIndex)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	next, err := h.Surveys.AnswerAgain(limited, actor(ctx), request.SurveyID, index, request.Body.Answer)
	switch {
	case err != nil:
		return nil, kept("surveys", err)
	case next == nil:
		return contract.ChangeAnswer204Response{}, nil
	}
	question, err := describeStep(ctx, guidance.Step{Question: *next})
	return contract.ChangeAnswer200JSONResponse(question), err
}

// readIndex reads the place of a question in its survey.
func readIndex(field, text string) (int, error) {
	index, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, refusal{{Field: field, Message: "expected a whole number, 0 for the first question"}}
	}
	return int(index), nil
}

// describeStep is a question as it was asked, with what is chosen or was answered.
func describeStep(ctx context.Context, step guidance.Step) (contract.Question, error) {
	q := &step.Question
	described := contract.Question{ID: q.ID, Index: q.Index, AnswerType: contract.AnswerType(q.AnswerType), Meta: describeMeta(ctx, q)}
	described.Question.Text = q.Text
	said := step.UserAnswer()
	if said.IsZero() {
		return described, nil
	}
	answer, err := describeAnswer(said)
	described.UserAnswer = &answer
	return described, err
}

func describeAnswer(said guidance.Answer) (contract.UserAnswer, error) {
	value, err := json.Marshal(said)
	return contract.UserAnswer{Answer: value}, err
}

func describeMeta(ctx context.Context, q *guidance.Question) contract.QuestionMeta {
	meta := contract.QuestionMeta{Required: q.Meta.Required}
	if len(q.Meta.Options) > 0 {
		options := make([]contract.PossibleAnswer, len(q.Meta.Options))
		for i, option := range q.Meta.Options {
			options[i] = describeOption(q, option)
		}
		meta.Answers = &options
	}
	if q.Meta.Component != "" {
		meta.Component = new(contract.QuestionMetaComponent(q.Meta.Component))
	}
	if list := q.Meta.SourceList; list != nil {
		meta.SourceListURL = new(listURL(ctx, *list))
	}
	if q.Meta.MaxLength > 0 {
		meta.MaxLength = &q.Meta.MaxLength
	}
	if bounds := q.Meta.Bounds; bounds != nil {
		meta.MinValue, meta.MaxValue = &bounds.Min, &bounds.Max
	}
	return meta
}

// describeOption is a choice by its label, or a symptom by its name with its choices.
func describeOption(q *guidance.Question, option guidance.Option) contract.PossibleAnswer {
	if q.AnswerType != guidance.Symptoms {
		return contract.PossibleAnswer{ID: option.ID, Label: &option.Label}
	}
	choices := make([]contract.PossibleChoice, len(q.Meta.Choices))
	for i, choice := range q.Meta.Choices {
		choices[i] = contract.PossibleChoice{ID: contract.ChoiceID(choice.ID), Label: choice.Label}
	}
	return contract.PossibleAnswer{ID: option.ID, Name: &option.Label, Choices: &choices}
}

// listURL is where the items of a list are, on the address and the prefix of the call.
func listURL(ctx context.Context, list guidance.SourceList) string {
	address, _ := ctx.Value(addressKey{}).(url.URL)
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
