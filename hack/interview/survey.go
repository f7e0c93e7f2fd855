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

// A walk leads through a survey of a patient made for it.
type walk struct {
	guidance *guidance.API
	in       *bufio.Scanner
	out      io.Writer
	language string // empty: the server's default
}

func (w *walk) print(format string, arguments ...any) {
	// A terminal that is gone ends the program by a signal.
	_, _ = fmt.Fprintf(w.out, format, arguments...)
}

// hold makes a survey of a type, asks to its end and shows what it came to. Without
// any more input it leaves the survey where it is.
func (w *walk) hold(ctx context.Context, kind string) error {
	survey, err := w.begin(ctx, kind)
	if err != nil {
		return err
	}
	question, err := w.guidance.GetCurrentQuestion(ctx, survey)
	if err != nil {
		return err
	}
	for next := &question; next != nil; {
		switch next, err = w.put(ctx, survey, next); {
		case errors.Is(err, io.EOF):
			w.print("\nthe survey %s waits for an answer\n", survey)
			return nil
		case err != nil:
			return err
		}
	}
	return w.conclude(ctx, survey)
}

// begin makes a user, a patient of whom nothing is known, and a survey.
func (w *walk) begin(ctx context.Context, kind string) (survey uuid.UUID, err error) {
	user, err := w.guidance.CreateUser(ctx, guidance.NewUser{})
	if err != nil {
		return uuid.Nil, err
	}
	patient, err := w.guidance.CreatePatient(ctx, guidance.NewPatient{UserID: new(user.ID.String())})
	if err != nil {
		return uuid.Nil, err
	}
	wanted := guidance.NewSurvey{Type: &kind, PatientID: new(patient.ID.String())}
	if w.language != "" {
		wanted.Language = &w.language
	}
	made, err := w.guidance.CreateSurvey(ctx, nil, wanted)
	return made.ID, err
}

// put puts one question until it gets an answer that the server takes, and returns the
// next one. Without any more input it is io.EOF.
func (w *walk) put(ctx context.Context, survey uuid.UUID, question *guidance.Question) (*guidance.Question, error) {
	w.print("\n%s\n", question.Question.Text)
	for n, option := range question.Meta.Answers {
		w.print("  %d  %s\n", n+1, cmp.Or(value(option.Label), value(option.Name)))
	}
	for {
		w.print("%s > ", surveyHint(question))
		if !w.in.Scan() {
			w.print("\n")
			return nil, cmp.Or(w.in.Err(), io.EOF)
		}
		answer, ok, err := w.read(ctx, question, strings.TrimSpace(w.in.Text()))
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		next, err := w.guidance.AnswerCurrentQuestion(ctx, survey, nil, guidance.NewAnswer{Answer: answer})
		if refused, is := errors.AsType[*client.Error](err); is && refused.Status == http.StatusUnprocessableEntity {
			for _, field := range refused.Fields {
				w.print("%s\n", field.Message)
			}
			continue
		}
		return next, err
	}
}

// value is what a pointer leads to, or nothing.
func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// surveyHint says how a question is answered.
func surveyHint(question *guidance.Question) string {
	hints := map[guidance.AnswerType]string{
		guidance.AnswerTypeNumber: "a number", guidance.AnswerTypeText: "in your own words", guidance.AnswerTypeChoice: "a number of the list",
		guidance.AnswerTypeMultipleChoice: "numbers of the list, n for none", guidance.AnswerTypeList: "names, with commas between them, n for none",
		guidance.AnswerTypeSymptoms: "numbers of the list, n for none, ? if not known",
	}
	hint := hints[question.AnswerType]
	if single(question) {
		hint = "y, n, ? if not known"
	}
	if !question.Meta.Required {
		hint += ", nothing to skip it"
	}
	return hint
}

func single(question *guidance.Question) bool {
	return question.Meta.Component != nil && *question.Meta.Component == guidance.QuestionMetaComponentSingle
}

// chosen is one of the answers that the server takes a list of.
type chosen struct {
	ID     string `json:"id"`
	Choice string `json:"choice_id,omitempty"`
}

// read makes an answer of what was typed. It is false for words that answer nothing.
func (w *walk) read(ctx context.Context, question *guidance.Question, typed string) (answer json.RawMessage, ok bool, err error) {
	if typed == "" {
		return json.RawMessage("null"), !question.Meta.Required, nil
	}
	var said any
	switch question.AnswerType {
	case guidance.AnswerTypeText:
		said, ok = typed, true
	case guidance.AnswerTypeNumber:
		said, err = strconv.Atoi(typed)
		ok, err = err == nil, nil
	case guidance.AnswerTypeList:
		said, ok, err = w.find(ctx, question, typed)
	case guidance.AnswerTypeChoice:
		items, numbered := numbered(question, typed, "")
		if ok = numbered && len(items) == 1; ok {
			said = items[0]
		}
	case guidance.AnswerTypeMultipleChoice:
		said, ok = numbered(question, typed, "")
	default:
		said, ok = symptoms(question, typed)
	}
	if err != nil || !ok {
		return nil, false, err
	}
	answer, err = json.Marshal(said)
	return answer, true, err
}

// numbered are the possible answers whose numbers were typed, none for n.
func numbered(question *guidance.Question, typed, choice string) (items []chosen, ok bool) {
	items = []chosen{}
	if typed == "n" {
		return items, true
	}
	for word := range strings.FieldsFuncSeq(typed, func(r rune) bool { return r == ' ' || r == ',' }) {
		number, err := strconv.Atoi(word)
		if err != nil || number < 1 || number > len(question.Meta.Answers) {
			return nil, false
		}
		items = append(items, chosen{question.Meta.Answers[number-1].ID, choice})
	}
	return items, true
}

// symptoms are the items of a question with what was said of them: one choice for all,
// or present for those whose numbers were typed.
func symptoms(question *guidance.Question, typed string) (items []chosen, ok bool) {
	choice, known := choices[strings.ToLower(typed)]
	if !known || string(choice) == "present" && !single(question) {
		if single(question) {
			return nil, false
		}
		return numbered(question, typed, "present")
	}
	for _, option := range question.Meta.Answers {
		items = append(items, chosen{option.ID, string(choice)})
	}
	return items, true
}

// find looks each name up in the list of a question, and takes the best match.
func (w *walk) find(ctx context.Context, question *guidance.Question, typed string) (items []chosen, ok bool, err error) {
	items = []chosen{}
	if typed == "n" {
		return items, true, nil
	}
	source, err := url.Parse(value(question.Meta.SourceListURL))
	if err != nil {
		return nil, false, err
	}
	for name := range strings.SplitSeq(typed, ",") {
		params := &guidance.ListKnowledgeParams{Query: new(strings.TrimSpace(name)), Limit: new(1), Language: new(source.Query().Get("language"))}
		found, err := w.guidance.ListKnowledge(ctx, path.Base(source.Path), params)
		if err != nil {
			return nil, false, err
		}
		if len(found.Items) == 0 {
			w.print("nothing is known by the name %q\n", strings.TrimSpace(name))
			return nil, false, nil
		}
		w.print("  %s\n", found.Items[0].Name)
		items = append(items, chosen{ID: found.Items[0].ID})
	}
	return items, true, nil
}

// conclude shows what the survey came to.
func (w *walk) conclude(ctx context.Context, survey uuid.UUID) error {
	assessment, err := w.guidance.GetAssessment(ctx, survey, nil)
	if err != nil {
		return err
	}
	w.print("\n%s, because of %s\n", assessment.Triage.Level, assessment.Triage.RootCause)
	if assessment.RecommendedSpecialist != nil {
		w.print("see: %s (%s)\n", assessment.RecommendedSpecialist.Name, *assessment.RecommendedChannel)
	}
	for _, condition := range assessment.Conditions {
		w.print("%6.1f %%  %s\n", 100*condition.Probability, condition.CommonName)
	}
	w.print("the survey is %s\n", survey)
	return nil
}
