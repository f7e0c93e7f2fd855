// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/guidance"
)

// A surveySession runs a survey for a newly created patient.
type surveySession struct {
	guidance *guidance.API
	in       *bufio.Scanner
	out      io.Writer
	language string // if empty, the server's default
}

func (s *surveySession) printf(format string, arguments ...any) {
	// If the terminal is closed, a signal terminates the program.
	_, _ = fmt.Fprintf(s.out, format, arguments...)
}

// run creates a survey of the given type, asks all its questions and prints the result.
// At the end of input, it leaves the survey incomplete.
func (s *surveySession) run(ctx context.Context, kind string) error {
	survey, err := s.createSurvey(ctx, kind)
	if err != nil {
		return err
	}
	question, err := s.guidance.GetCurrentQuestion(ctx, survey)
	if err != nil {
		return err
	}
	for next := &question; next != nil; {
		switch next, err = s.askQuestion(ctx, survey, next); {
		case errors.Is(err, io.EOF):
			s.printf("\nsurvey %s is waiting for an answer\n", survey)
			return nil
		case err != nil:
			return err
		}
	}
	return s.printAssessment(ctx, survey)
}

// createSurvey creates a user, a patient without data, and a survey, and returns the ID
// of the survey.
func (s *surveySession) createSurvey(ctx context.Context, kind string) (id uuid.UUID, err error) {
	user, err := s.guidance.CreateUser(ctx, guidance.NewUser{})
	if err != nil {
		return uuid.Nil, err
	}
	patient, err := s.guidance.CreatePatient(ctx, guidance.NewPatient{UserID: new(user.ID.String())})
	if err != nil {
		return uuid.Nil, err
	}
	newSurvey := guidance.NewSurvey{Type: &kind, PatientID: new(patient.ID.String())}
	if s.language != "" {
		newSurvey.Language = &s.language
	}
	survey, err := s.guidance.CreateSurvey(ctx, nil, newSurvey)
	return survey.ID, err
}

// askQuestion repeats one question until the server accepts the answer, and returns the
// next question. It returns io.EOF at the end of input.
func (s *surveySession) askQuestion(ctx context.Context, survey uuid.UUID, question *guidance.Question) (*guidance.Question, error) {
	s.printf("\n%s\n", question.Question.Text)
	for n, option := range question.Meta.Answers {
		s.printf("  %d  %s\n", n+1, cmp.Or(deref(option.Label), deref(option.Name)))
	}
	for {
		s.printf("%s > ", surveyAnswerHint(question))
		if !s.in.Scan() {
			s.printf("\n")
			return nil, cmp.Or(s.in.Err(), io.EOF)
		}
		answer, ok, err := s.parseAnswer(ctx, question, strings.TrimSpace(s.in.Text()))
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		next, err := s.guidance.AnswerCurrentQuestion(ctx, survey, nil, guidance.NewAnswer{Answer: answer})
		if apiErr, isAPIErr := errors.AsType[*client.Error](err); isAPIErr && apiErr.Status == http.StatusUnprocessableEntity {
			for _, field := range apiErr.Fields {
				s.printf("%s\n", field.Message)
			}
			continue
		}
		return next, err
	}
}

// deref returns the string that the pointer refers to, or the empty string.
func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// surveyAnswerHint describes how to answer a question.
func surveyAnswerHint(question *guidance.Question) string {
	hints := map[guidance.AnswerType]string{
		guidance.AnswerTypeNumber: "a number", guidance.AnswerTypeText: "in your own words", guidance.AnswerTypeChoice: "a number from the list",
		guidance.AnswerTypeMultipleChoice: "numbers from the list, n for none", guidance.AnswerTypeList: "names separated by commas, n for none",
		guidance.AnswerTypeSymptoms: "numbers from the list, n for none, ? if unknown",
	}
	hint := hints[question.AnswerType]
	if isSingle(question) {
		hint = "y, n, ? if unknown"
	}
	if !question.Meta.Required {
		hint += ", Enter to skip"
	}
	return hint
}

func isSingle(question *guidance.Question) bool {
	return question.Meta.Component != nil && *question.Meta.Component == guidance.QuestionMetaComponentSingle
}

// selectedItem is an item in the list of an answer.
type selectedItem struct {
	ID     string `json:"id"`
	Choice string `json:"choice_id,omitempty"`
}

// parseAnswer converts typed text to an answer. It returns false if the text is invalid
// for the question.
func (s *surveySession) parseAnswer(ctx context.Context, question *guidance.Question, typed string) (answer json.RawMessage, ok bool, err error) {
	if typed == "" {
		return json.RawMessage("null"), !question.Meta.Required, nil
	}
	var value any
	switch question.AnswerType {
	case guidance.AnswerTypeText:
		value, ok = typed, true
	case guidance.AnswerTypeNumber:
		value, err = strconv.Atoi(typed)
		ok, err = err == nil, nil
	case guidance.AnswerTypeList:
		value, ok, err = s.findListItems(ctx, question, typed)
	case guidance.AnswerTypeChoice:
		items, numbered := parseItemNumbers(question, typed, "")
		if ok = numbered && len(items) == 1; ok {
			value = items[0]
		}
	case guidance.AnswerTypeMultipleChoice:
		value, ok = parseItemNumbers(question, typed, "")
	default:
		value, ok = parseSymptomAnswer(question, typed)
	}
	if err != nil || !ok {
		return nil, false, err
	}
	answer, err = json.Marshal(value)
	return answer, true, err
}

// parseItemNumbers returns the options with the typed numbers, or none for n.
func parseItemNumbers(question *guidance.Question, typed, choice string) (items []selectedItem, ok bool) {
	items = []selectedItem{}
	if typed == "n" {
		return items, true
	}
	for word := range strings.FieldsFuncSeq(typed, func(r rune) bool { return r == ' ' || r == ',' }) {
		number, err := strconv.Atoi(word)
		if err != nil || number < 1 || number > len(question.Meta.Answers) {
			return nil, false
		}
		items = append(items, selectedItem{question.Meta.Answers[number-1].ID, choice})
	}
	return items, true
}

// parseSymptomAnswer returns the items of a question with their choices: the typed
// choice for all items, or present for the items with the typed numbers.
func parseSymptomAnswer(question *guidance.Question, typed string) (items []selectedItem, ok bool) {
	choice, known := choiceByInput[strings.ToLower(typed)]
	if !known || string(choice) == "present" && !isSingle(question) {
		if isSingle(question) {
			return nil, false
		}
		return parseItemNumbers(question, typed, "present")
	}
	for _, option := range question.Meta.Answers {
		items = append(items, selectedItem{option.ID, string(choice)})
	}
	return items, true
}

// findListItems returns the best match for each name from the list of a question.
func (s *surveySession) findListItems(ctx context.Context, question *guidance.Question, typed string) (items []selectedItem, ok bool, err error) {
	items = []selectedItem{}
	if typed == "n" {
		return items, true, nil
	}
	source, err := url.Parse(deref(question.Meta.SourceListURL))
	if err != nil {
		return nil, false, err
	}
	for name := range strings.SplitSeq(typed, ",") {
		params := &guidance.ListKnowledgeParams{Query: new(strings.TrimSpace(name)), Limit: new(1), Language: new(source.Query().Get("language"))}
		found, err := s.guidance.ListKnowledge(ctx, path.Base(source.Path), params)
		if err != nil {
			return nil, false, err
		}
		if len(found.Items) == 0 {
			s.printf("no match for %q\n", strings.TrimSpace(name))
			return nil, false, nil
		}
		s.printf("  %s\n", found.Items[0].Name)
		items = append(items, selectedItem{ID: found.Items[0].ID})
	}
	return items, true, nil
}

// printAssessment prints the assessment of the survey.
func (s *surveySession) printAssessment(ctx context.Context, survey uuid.UUID) error {
	assessment, err := s.guidance.GetAssessment(ctx, survey, nil)
	if err != nil {
		return err
	}
	s.printf("\n%s, because of %s\n", assessment.Triage.Level, assessment.Triage.RootCause)
	if assessment.RecommendedSpecialist != nil {
		s.printf("see: %s (%s)\n", assessment.RecommendedSpecialist.Name, *assessment.RecommendedChannel)
	}
	for _, condition := range assessment.Conditions {
		s.printf("%6.1f %%  %s\n", 100*condition.Probability, condition.CommonName)
	}
	s.printf("the survey is %s\n", survey)
	return nil
}
