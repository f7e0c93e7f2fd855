// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
)

// begin is where somebody comes in: before the first answer it says what comes, after
// the last one what came of it, and else it asks on.
func (h *handlers) begin(w http.ResponseWriter, r *http.Request) {
	sight, ok := h.see(w, r)
	if !ok {
		return
	}
	path := pathOf(surveyID(r))
	switch sight.Survey.Status {
	case guidance.New:
		h.renderOf(w, r, http.StatusOK, "start", &sight, startView{
			Type: string(sight.Survey.Type), Next: questionPath(path, current(&sight)),
		})
	case guidance.Completed:
		seeOther(w, r, path+"/result")
	default:
		seeOther(w, r, questionPath(path, current(&sight)))
	}
}

type startView struct{ Type, Next string }

// see is what is shown of the survey of the address; not ok where it answered already.
func (h *handlers) see(w http.ResponseWriter, r *http.Request) (sight survey.Sight, ok bool) {
	ctx, cancel := context.WithTimeout(r.Context(), storagePatience)
	defer cancel()
	sight, err := h.Surveys.See(ctx, actorOf(r), surveyID(r))
	if err == nil {
		err = h.open(&sight)
	}
	if err != nil {
		h.fail(w, r, err)
		return sight, false
	}
	return sight, true
}

// open is an error for a survey that can be answered no more, and was not to its end.
func (h *handlers) open(sight *survey.Sight) error {
	if sight.Survey.Status != guidance.Completed && sight.Survey.Expired(h.Now()) {
		return &survey.ExpiredError{Since: sight.Survey.ExpirationDate}
	}
	return nil
}

// current is the index of the current question, or how many there were.
func current(sight *survey.Sight) int { return len(guidance.Answered(sight.Steps)) }

func questionPath(surveyPath string, index int) string {
	return surveyPath + "/questions/" + strconv.Itoa(index)
}

// stepOf is the step that the address names. Where there is none it sends the browser
// where the survey is.
func (h *handlers) stepOf(w http.ResponseWriter, r *http.Request, sight *survey.Sight) (step *guidance.Step, ok bool) {
	index, err := strconv.ParseUint(chi.URLParam(r, "index"), 10, 16)
	if err != nil || int(index) >= len(sight.Steps) || sight.Survey.Status == guidance.Completed {
		h.toCurrent(w, r, sight)
		return nil, false
	}
	return &sight.Steps[index], true
}

// toCurrent sends a browser to where a survey is.
func (h *handlers) toCurrent(w http.ResponseWriter, r *http.Request, sight *survey.Sight) {
	path := pathOf(surveyID(r))
	if sight.Survey.Status == guidance.Completed || current(sight) == len(sight.Steps) {
		seeOther(w, r, path+"/result")
		return
	}
	seeOther(w, r, questionPath(path, current(sight)))
}

// showQuestion asks a question, or shows one that was answered. When what was said last
// is an emergency, it says that first.
func (h *handlers) showQuestion(w http.ResponseWriter, r *http.Request) {
	sight, ok := h.see(w, r)
	if !ok {
		return
	}
	step, ok := h.stepOf(w, r, &sight)
	if !ok {
		return
	}
	if sight.EmergencyIsNew && step.Answer.IsZero() && !r.URL.Query().Has("seen") {
		h.alarm(w, r, &sight, questionPath(pathOf(surveyID(r)), step.Question.Index)+"?seen")
		return
	}
	draft, err := h.draftOf(&step.Question, formOf(&step.Question, step.UserAnswer()))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.ask(w, r, http.StatusOK, &sight, step, draft)
}

// showEmergency says what to do at once.
func (h *handlers) showEmergency(w http.ResponseWriter, r *http.Request) {
	if sight, ok := h.see(w, r); ok {
		h.alarm(w, r, &sight, pathOf(surveyID(r)))
	}
}

type alarmView struct{ Level, Next string }

func (h *handlers) alarm(w http.ResponseWriter, r *http.Request, sight *survey.Sight, next string) {
	h.renderOf(w, r, http.StatusOK, "alarm", sight, alarmView{sight.Emergency, next})
}

// ask shows a question with what is in its form.
func (h *handlers) ask(w http.ResponseWriter, r *http.Request, status int, sight *survey.Sight, step *guidance.Step, draft *draft) {
	h.renderOf(w, r, status, "question", sight, h.questionOf(sight, step, draft))
}

// takeAnswer takes what a form says: an answer, or a step on the way to one.
func (h *handlers) takeAnswer(w http.ResponseWriter, r *http.Request) {
	sight, ok := h.see(w, r)
	if !ok {
		return
	}
	step, ok := h.stepOf(w, r, &sight)
	if !ok {
		return
	}
	if err := r.ParseForm(); err != nil {
		h.note(w, r, http.StatusBadRequest, "broken")
		return
	}
	if isDrafting(&step.Question, r.PostForm) {
		h.drafting(w, r, &sight, step)
		return
	}
	answer, wrong := givenBy(&step.Question, r.PostForm)
	if wrong == nil {
		wrong = h.give(w, r, step, answer)
	}
	if wrong != nil {
		h.askAgain(w, r, &sight, step, wrong)
	}
}

// give gives an answer to a question and sends the browser on, unless there is a problem.
func (h *handlers) give(w http.ResponseWriter, r *http.Request, step *guidance.Step, answer json.RawMessage) *problem {
	ctx, cancel := context.WithTimeout(r.Context(), storagePatience)
	defer cancel()
	index, id := step.Question.Index, surveyID(r)
	var next *guidance.Question
	var err error
	switch {
	case step.Answer.IsZero():
		next, err = h.Surveys.Answer(ctx, actorOf(r), id, survey.Given{Answer: answer, Index: &index})
	case isSame(step, answer):
		seeOther(w, r, questionPath(pathOf(id), index+1))
		return nil
	default:
		next, err = h.Surveys.AnswerAgain(ctx, actorOf(r), id, index, answer)
	}
	if _, misfit := errors.AsType[*assessment.FieldError](err); misfit {
		return &problem{Text: "error.other"}
	}
	switch {
	case err != nil:
		h.fail(w, r, err)
	case next == nil:
		seeOther(w, r, pathOf(id)+"/result")
	default:
		seeOther(w, r, questionPath(pathOf(id), next.Index))
	}
	return nil
}

// isSame says whether an answer is the one that was given before, as a form says it: then
// what followed stays.
func isSame(step *guidance.Step, answer json.RawMessage) bool {
	if step.Answer.Form == guidance.Skipped {
		return string(answer) == skipped
	}
	before, wrong := answerOf(&step.Question, formOf(&step.Question, step.Answer))
	return wrong == nil && bytes.Equal(before, answer)
}

// askAgain shows a form with what is wrong with it.
func (h *handlers) askAgain(w http.ResponseWriter, r *http.Request, sight *survey.Sight, step *guidance.Step, wrong *problem) {
	draft, err := h.draftOf(&step.Question, r.PostForm)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	draft.Problem = wrong
	h.ask(w, r, http.StatusUnprocessableEntity, sight, step, draft)
}

// showReason says why the current question is asked.
func (h *handlers) showReason(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), storagePatience)
	defer cancel()
	why, err := h.Surveys.Why(ctx, actorOf(r), surveyID(r))
	if err == nil {
		err = h.open(&why.Sight)
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.renderOf(w, r, http.StatusOK, "why", &why.Sight, reasonView{why.Reason, why.Known, questionPath(pathOf(surveyID(r)), current(&why.Sight))})
}

type reasonView struct {
	survey.Reason
	Known bool
	Next  string
}

// part is which part of a survey a section is, and of how many.
func part(s *guidance.Survey, section string) (number, of int) {
	return slices.Index(s.Sections, section) + 1, len(s.Sections)
}
