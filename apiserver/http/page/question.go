// SPDX-License-Identifier: Apache-2.0

package page

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
)

// showStart is the entry page of a survey. It shows an introduction before the first answer
// and the result after the last, and otherwise redirects to the current question.
func (h *handlers) showStart(w http.ResponseWriter, r *http.Request) {
	view, ok := h.loadView(w, r)
	if !ok {
		return
	}
	path := pathForSurvey(surveyID(r))
	switch view.Survey.Status {
	case record.StatusNew:
		h.renderSurvey(w, r, http.StatusOK, "start", &view, startView{
			Type: string(view.Survey.Type), Next: questionPath(path, currentIndex(&view)),
		})
	case record.StatusCompleted:
		seeOther(w, r, path+"/result")
	default:
		seeOther(w, r, questionPath(path, currentIndex(&view)))
	}
}

type startView struct{ Type, Next string }

// loadView loads the survey in the URL. If ok is false, it has already responded.
func (h *handlers) loadView(w http.ResponseWriter, r *http.Request) (view flow.View, ok bool) {
	view, err := h.Surveys.View(r.Context(), principalFrom(r), surveyID(r))
	if err == nil {
		err = h.checkNotExpired(&view)
	}
	if err != nil {
		h.handleError(w, r, err)
		return view, false
	}
	return view, true
}

// checkNotExpired returns an error if a survey expired before it was completed.
func (h *handlers) checkNotExpired(view *flow.View) error {
	if view.Survey.Status != record.StatusCompleted && view.Survey.Expired(h.Now()) {
		return &flow.ExpiredError{Since: view.Survey.ExpirationDate}
	}
	return nil
}

// currentIndex returns the index of the current question, or the number of questions if all
// are answered.
func currentIndex(view *flow.View) int { return len(record.AnsweredSteps(view.Steps)) }

func questionPath(surveyPath string, index int) string {
	return surveyPath + "/questions/" + strconv.Itoa(index)
}

// stepFromURL returns the step in the URL. If it does not exist, it redirects to the current
// page of the survey.
func (h *handlers) stepFromURL(w http.ResponseWriter, r *http.Request, view *flow.View) (step *record.Step, ok bool) {
	index, err := strconv.ParseUint(chi.URLParam(r, "index"), 10, 16)
	if err != nil || int(index) >= len(view.Steps) || view.Survey.Status == record.StatusCompleted {
		h.redirectToCurrent(w, r, view)
		return nil, false
	}
	return &view.Steps[index], true
}

// redirectToCurrent redirects to the current page of a survey.
func (h *handlers) redirectToCurrent(w http.ResponseWriter, r *http.Request, view *flow.View) {
	path := pathForSurvey(surveyID(r))
	if view.Survey.Status == record.StatusCompleted || currentIndex(view) == len(view.Steps) {
		seeOther(w, r, path+"/result")
		return
	}
	seeOther(w, r, questionPath(path, currentIndex(view)))
}

// showQuestion renders the current or an answered question. If the last answer indicated an
// emergency, it shows the emergency page first.
func (h *handlers) showQuestion(w http.ResponseWriter, r *http.Request) {
	view, ok := h.loadView(w, r)
	if !ok {
		return
	}
	step, ok := h.stepFromURL(w, r, &view)
	if !ok {
		return
	}
	if view.IsNewEmergency && step.Answer.IsZero() && !r.URL.Query().Has("seen") {
		h.renderEmergency(w, r, &view, questionPath(pathForSurvey(surveyID(r)), step.Question.Index)+"?seen")
		return
	}
	draft, err := h.newDraft(&step.Question, formFromAnswer(&step.Question, step.UserAnswer()))
	if err != nil {
		h.handleError(w, r, err)
		return
	}
	h.renderQuestion(w, r, http.StatusOK, &view, step, draft)
}

// showEmergency renders the emergency page.
func (h *handlers) showEmergency(w http.ResponseWriter, r *http.Request) {
	if view, ok := h.loadView(w, r); ok {
		h.renderEmergency(w, r, &view, pathForSurvey(surveyID(r)))
	}
}

type emergencyView struct{ Level, Next string }

func (h *handlers) renderEmergency(w http.ResponseWriter, r *http.Request, view *flow.View, next string) {
	h.renderSurvey(w, r, http.StatusOK, "alarm", view, emergencyView{view.Emergency, next})
}

// renderQuestion renders a question with its draft.
func (h *handlers) renderQuestion(w http.ResponseWriter, r *http.Request, status int, view *flow.View, step *record.Step, draft *draft) {
	h.renderSurvey(w, r, status, "question", view, h.newQuestionView(view, step, draft))
}

// handleAnswer processes a form: an answer or a draft action.
func (h *handlers) handleAnswer(w http.ResponseWriter, r *http.Request) {
	view, ok := h.loadView(w, r)
	if !ok {
		return
	}
	step, ok := h.stepFromURL(w, r, &view)
	if !ok {
		return
	}
	if err := r.ParseForm(); err != nil {
		h.renderNotice(w, r, http.StatusBadRequest, "broken")
		return
	}
	if isDraftAction(&step.Question, r.PostForm) {
		h.showDraft(w, r, &view, step)
		return
	}
	answer, formErr := readAnswer(&step.Question, r.PostForm)
	if formErr == nil {
		formErr = h.saveAnswer(w, r, &view, step, answer)
	}
	if formErr != nil {
		h.renderQuestionError(w, r, &view, step, formErr)
	}
}

// saveAnswer saves an answer and redirects the browser. It returns a formError if the answer
// is invalid.
func (h *handlers) saveAnswer(w http.ResponseWriter, r *http.Request, view *flow.View, step *record.Step, answer record.Answer) *formError {
	index, id := step.Question.Index, surveyID(r)
	if isUnchanged(step, answer) {
		seeOther(w, r, questionPath(pathForSurvey(id), index+1))
		return nil
	}
	var next *record.Question
	sent, err := json.Marshal(answer)
	if err == nil {
		next, err = h.Surveys.AnswerViewed(r.Context(), principalFrom(r), view, index, sent)
	}
	if _, fieldErr := errors.AsType[*assessment.FieldError](err); fieldErr {
		return &formError{MessageID: "error.other"}
	}
	switch {
	case err != nil:
		h.handleError(w, r, err)
	case next == nil:
		seeOther(w, r, pathForSurvey(id)+"/result")
	default:
		seeOther(w, r, questionPath(pathForSurvey(id), next.Index))
	}
	return nil
}

// isUnchanged reports whether a form submits the previous answer again, in which case the
// following answers are kept.
func isUnchanged(step *record.Step, answer record.Answer) bool {
	switch step.Answer.Kind {
	case record.KindNone:
		return false
	case record.KindSkipped:
		return answer.Kind == record.KindSkipped
	}
	before, formErr := answerFromForm(&step.Question, formFromAnswer(&step.Question, step.Answer))
	return formErr == nil && before.Kind == answer.Kind && before.Number == answer.Number && before.Text == answer.Text &&
		slices.Equal(before.Items, answer.Items)
}

// renderQuestionError renders a form with its error.
func (h *handlers) renderQuestionError(w http.ResponseWriter, r *http.Request, view *flow.View, step *record.Step, formErr *formError) {
	draft, err := h.newDraft(&step.Question, r.PostForm)
	if err != nil {
		h.handleError(w, r, err)
		return
	}
	draft.Problem = formErr
	h.renderQuestion(w, r, http.StatusUnprocessableEntity, view, step, draft)
}

// showReason renders the reason for the current question.
func (h *handlers) showReason(w http.ResponseWriter, r *http.Request) {
	explained, err := h.Surveys.Explain(r.Context(), principalFrom(r), surveyID(r))
	if err == nil {
		err = h.checkNotExpired(&explained.View)
	}
	if err != nil {
		h.handleError(w, r, err)
		return
	}
	h.renderSurvey(w, r, http.StatusOK, "why", &explained.View, reasonView{explained.Reason, explained.HasReason, questionPath(pathForSurvey(surveyID(r)), currentIndex(&explained.View))})
}

type reasonView struct {
	flow.Reason
	Known bool
	Next  string
}

// sectionPosition returns the position of a section and the total number of sections in a
// survey.
func sectionPosition(s *record.Survey, section string) (number, total int) {
	return slices.Index(s.Sections, section) + 1, len(s.Sections)
}
