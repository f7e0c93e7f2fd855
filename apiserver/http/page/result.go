// SPDX-License-Identifier: Apache-2.0

package page

import (
	"math"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// A resultView is the template data of a survey's result.
type resultView struct {
	service.PatientReport
	Title      string    // message ID
	At         time.Time // time of the last answer; zero if unknown
	Channel    string    // recommended consultation channel; empty if none is recommended
	Conditions []conditionView
	// IsEmergency reports whether the result is an emergency. Self-care advice is then
	// hidden, because it might keep the patient from seeking help.
	IsEmergency bool
	Likely      int // number of conditions shown at first
	Answers     []answerView
}

// maxLikely is the number of conditions shown initially; less likely ones are collapsed.
const maxLikely = 3

// A conditionView is a condition that the patient may have.
type conditionView struct {
	record.RankedCondition
	Percent int
	Article string // path of the article; empty if unavailable
}

// showResult renders the result of a survey on one printable page.
func (h *handlers) showResult(w http.ResponseWriter, r *http.Request) {
	report, err := h.Surveys.PatientReport(r.Context(), principalFrom(r), surveyID(r))
	if err != nil {
		h.handleError(w, r, err)
		return
	}
	view := resultView{PatientReport: report, Title: "result.title", At: report.Survey.AskedAt, Likely: maxLikely}
	if report.Survey.Type == record.TypeIntake || report.Assessment == nil {
		view.Title = "result.title.intake"
	}
	if report.Assessment != nil {
		view.Conditions = newConditionViews(report.Assessment, pathForSurvey(surveyID(r))+"/articles/")
		view.IsEmergency = isEmergency(report.Assessment.Triage.Level)
		if report.Assessment.Channel != nil {
			view.Channel = *report.Assessment.Channel
		}
	}
	for _, exchange := range report.Questions {
		view.Answers = append(view.Answers, newAnswerView(&exchange))
	}
	h.renderSurvey(w, r, http.StatusOK, "result", viewFromReport(&report), view)
}

// newConditionViews returns the views of an assessment's conditions, with the path of their
// articles.
func newConditionViews(a *record.Assessment, articles string) []conditionView {
	views := make([]conditionView, len(a.Conditions))
	for i, condition := range a.Conditions {
		views[i] = conditionView{RankedCondition: condition, Percent: toPercent(condition.Probability)}
		if condition.Details != nil && condition.Details.HasPatientEducation {
			views[i].Article = articles + condition.ID
		}
	}
	return views
}

// toPercent returns a probability in whole percent, never rounded to certainty.
func toPercent(probability float64) int {
	return int(min(99, max(1, math.Round(probability*100))))
}

// viewFromReport returns the view of a completed survey with the fields that the pages need.
func viewFromReport(report *service.PatientReport) *flow.View {
	surveyView := &flow.View{Progress: flow.Progress{Survey: report.Survey}, Age: report.Age, Crisis: report.Crisis}
	if report.Assessment != nil && isEmergency(report.Assessment.Triage.Level) {
		surveyView.Emergency = report.Assessment.Triage.Level
	}
	return surveyView
}

func isEmergency(level string) bool {
	return level == model.Emergency.String() || level == model.EmergencyAmbulance.String()
}

// showArticle renders the article on a condition of a result.
func (h *handlers) showArticle(w http.ResponseWriter, r *http.Request) {
	article, report, err := h.Surveys.Article(r.Context(), principalFrom(r), surveyID(r), chi.URLParam(r, "condition"))
	if err != nil {
		h.handleError(w, r, err)
		return
	}
	h.renderSurvey(w, r, http.StatusOK, "article", viewFromReport(&report), article)
}

// showAnswers lists the answers so far, for review and changes.
func (h *handlers) showAnswers(w http.ResponseWriter, r *http.Request) {
	surveyView, ok := h.loadView(w, r)
	if !ok {
		return
	}
	if surveyView.Survey.Status == record.StatusCompleted {
		h.redirectToCurrent(w, r, &surveyView)
		return
	}
	path := pathForSurvey(surveyID(r))
	view := answersView{Next: questionPath(path, currentIndex(&surveyView))}
	for _, exchange := range record.Summarize(surveyView.Survey, surveyView.Steps).Questions {
		answered := newAnswerView(&exchange)
		answered.Path = questionPath(path, exchange.Index)
		view.Answers = append(view.Answers, answered)
	}
	h.renderSurvey(w, r, http.StatusOK, "answers", &surveyView, view)
}

type answersView struct {
	Answers []answerView
	Next    string
}

// An answerView is a question with its answer as text.
type answerView struct {
	Path, Text string
	// Items contains the answer: names of items, some of them denied or unknown, or a text. A
	// number or a text is a single item.
	Items   []answeredItem
	Skipped bool
}

// An answeredItem is one item of an answer.
type answeredItem struct {
	Name   string
	Choice string // present, absent, unknown, or empty
}

// newAnswerView converts an answer to text in the wording of the question.
func newAnswerView(exchange *record.AnsweredQuestion) answerView {
	view := answerView{Text: exchange.Text, Skipped: exchange.Answer.Kind == record.KindSkipped}
	for _, item := range exchange.Answer.Items {
		view.Items = append(view.Items, answeredItem{item.Name, item.ChoiceID})
	}
	if text := formFromAnswer(&record.Question{AnswerType: exchange.AnswerType}, exchange.Answer).Get(answerField); view.Items == nil && text != "" {
		view.Items = []answeredItem{{Name: text}}
	}
	return view
}
