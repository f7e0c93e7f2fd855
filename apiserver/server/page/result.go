// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// A resultView is what a survey came to, as its template shows it.
type resultView struct {
	surveys.Advice
	Title      string    // the id of a text
	At         time.Time // of the last answer; zero where that was not noted
	Channel    string    // by which somebody can help; empty where none is recommended
	Conditions []conditionView
	// IsEmergency says that it is one: what helps against a condition at home is not said
	// then, since it could keep somebody there.
	IsEmergency bool
	Likely      int // how many of the conditions stand there at once
	Answers     []answerView
}

// mostLikely is how many conditions stand there at once: those that fit less are for who
// wants to read on.
const mostLikely = 3

// A conditionView is one that the patient may have.
type conditionView struct {
	guidance.RankedCondition
	Percent int
	Article string // where there is more to read; empty for nowhere
}

// showResult shows what a survey came to, in one page that can be printed.
func (h *handlers) showResult(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), storagePatience)
	defer cancel()
	advice, err := h.Surveys.Advice(ctx, actorOf(r), surveyID(r))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	view := resultView{Advice: advice, Title: "result.title", At: advice.Survey.AskedAt, Likely: mostLikely}
	if advice.Survey.Type == guidance.Intake || advice.Assessment == nil {
		view.Title = "result.title.intake"
	}
	if advice.Assessment != nil {
		view.Conditions = conditionsOf(advice.Assessment, pathOf(surveyID(r))+"/articles/")
		view.IsEmergency = isEmergency(advice.Assessment.Triage.Level)
		if advice.Assessment.Channel != nil {
			view.Channel = *advice.Assessment.Channel
		}
	}
	for _, exchange := range advice.Questions {
		view.Answers = append(view.Answers, answerOfExchange(&exchange))
	}
	h.renderOf(w, r, http.StatusOK, "result", sightOf(&advice), view)
}

// conditionsOf are those of an assessment, with the articles at a path.
func conditionsOf(a *guidance.Assessment, articles string) []conditionView {
	views := make([]conditionView, len(a.Conditions))
	for i, condition := range a.Conditions {
		views[i] = conditionView{RankedCondition: condition, Percent: percentOf(condition.Probability)}
		if condition.Details != nil && condition.Details.HasPatientEducation {
			views[i].Article = articles + condition.ID
		}
	}
	return views
}

// percentOf is a probability in whole per cent, which never rounds to certainty.
func percentOf(probability float64) int {
	return int(min(99, max(1, math.Round(probability*100))))
}

// sightOf is that of a completed survey, of which no more needs to be known.
func sightOf(advice *surveys.Advice) *survey.Sight {
	sight := &survey.Sight{Progress: survey.Progress{Survey: advice.Survey}, Age: advice.Age, Crisis: advice.Crisis}
	if advice.Assessment != nil && isEmergency(advice.Assessment.Triage.Level) {
		sight.Emergency = advice.Assessment.Triage.Level
	}
	return sight
}

func isEmergency(level string) bool {
	return level == model.Emergency.String() || level == model.EmergencyAmbulance.String()
}

// showArticle shows what there is to read about a condition of a result.
func (h *handlers) showArticle(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), storagePatience)
	defer cancel()
	article, advice, err := h.Surveys.Article(ctx, actorOf(r), surveyID(r), chi.URLParam(r, "condition"))
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.renderOf(w, r, http.StatusOK, "article", sightOf(&advice), article)
}

// showAnswers lists what was answered so far, to be looked at and changed.
func (h *handlers) showAnswers(w http.ResponseWriter, r *http.Request) {
	sight, ok := h.see(w, r)
	if !ok {
		return
	}
	if sight.Survey.Status == guidance.Completed {
		h.toCurrent(w, r, &sight)
		return
	}
	path := pathOf(surveyID(r))
	view := answersView{Next: questionPath(path, current(&sight))}
	for _, exchange := range guidance.Summarize(sight.Survey, sight.Steps).Questions {
		answered := answerOfExchange(&exchange)
		answered.Path = questionPath(path, exchange.Index)
		view.Answers = append(view.Answers, answered)
	}
	h.renderOf(w, r, http.StatusOK, "answers", &sight, view)
}

type answersView struct {
	Answers []answerView
	Next    string
}

// An answerView is a question with its answer in words.
type answerView struct {
	Path, Text string
	// What was answered: the names of items, some of them denied or not known, or a text.
	// Of a number and of a text there is one.
	Items   []answeredItem
	Skipped bool
}

// An answeredItem is one of an answer.
type answeredItem struct {
	Name   string
	Choice string // present, absent, unknown, or none
}

// answerOfExchange puts an answer into words, which are those of the question.
func answerOfExchange(exchange *guidance.Exchange) answerView {
	view := answerView{Text: exchange.Text, Skipped: exchange.Answer.Form == guidance.Skipped}
	for _, item := range exchange.Answer.Items {
		view.Items = append(view.Items, answeredItem{item.Name, item.ChoiceID})
	}
	if text := formOf(&guidance.Question{AnswerType: exchange.AnswerType}, exchange.Answer).Get(answerField); view.Items == nil && text != "" {
		view.Items = []answeredItem{{Name: text}}
	}
	return view
}
