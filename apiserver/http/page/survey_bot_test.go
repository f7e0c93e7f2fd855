// SPDX-License-Identifier: Apache-2.0

//go:build !race

package page_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// A surveyBot answers surveys in a browser, whatever the questions.
type surveyBot struct {
	t           *testing.T
	clinic      *fixture
	tab         *browser.Tab
	survey      record.Survey
	spec        surveySpec
	answers     botAnswers
	onStep      func(botView)   // called with each loaded page
	emergencies int             // number of pages that reported an emergency
	noScript    bool            // the page's scripts are disabled
	stepTimes   []time.Duration // duration of each step, from the click to the page
}

// botAnswers are the answers of a bot, in the language of the survey.
type botAnswers struct {
	Symptoms  string // free text
	Condition string // beginning of a condition's name
	Text      string // answer to text questions
	Choice    string // answer for each symptom: present, absent or unknown
}

// A botView is what a bot reads from a page.
type botView struct {
	Name     string           // of the page
	Question *record.Question // of a question page
	Lang     string
	Title    string
	Heading  string
	Focus    string // tag of the focused element
	Unsaid   string // a missing or misused message: its ID in brackets
	Overflow bool
}

// kind returns the kind of a page, including the form of a question.
func (v botView) kind() string {
	switch {
	case v.Question == nil:
		return v.Name
	case v.Question.AnswerType == record.AnswerSymptoms:
		return string(v.Question.Meta.Component)
	}
	return string(v.Question.AnswerType)
}

// maxSteps is far more than a survey has.
const maxSteps = 100

// completeSurvey goes from the current page to the result.
func (w *surveyBot) completeSurvey() {
	w.t.Helper()
	for range maxSteps {
		seen := w.readView()
		w.onStep(seen)
		switch seen.Name {
		case "link":
			w.clickAndWait("main form button")
		case "start":
			w.clickAndWait("main a.button")
		case "alarm":
			w.emergencies++
			w.clickAndWait(`main a[href*="seen"]`)
		case "question":
			w.answer(seen.Question)
			w.clickAndWait(".actions button")
		case "note":
			w.t.Fatalf("%s says %q; the log says %s", w.tab.URL(), seen.Heading, w.clinic.log.String())
		default:
			return
		}
	}
	w.t.Fatalf("the survey did not end in %d pages; the last is %s", maxSteps, w.tab.URL())
}

// clickAndWait goes to the next page and records the duration.
func (w *surveyBot) clickAndWait(selector string) {
	w.t.Helper()
	began := time.Now()
	clickAndWait(w.tab, selector)
	w.stepTimes = append(w.stepTimes, time.Since(began))
}

// readView reads the current page.
func (w *surveyBot) readView() botView {
	w.t.Helper()
	seen := browser.Evaluate[botView](w.tab, `({
		name: document.body.className.replace("page-", ""), lang: document.documentElement.lang, title: document.title,
		heading: document.querySelector("h1").innerText, focus: document.activeElement.localName,
		unsaid: document.body.innerText.match(/\[[a-z-]+\.[^\]]*\]/)?.[0] ?? "",
	})`)
	seen.Overflow = w.tab.HasHorizontalOverflow()
	if seen.Name == "question" {
		seen.Question = w.currentQuestion()
	}
	return seen
}

// currentQuestion returns the current question of the survey.
func (w *surveyBot) currentQuestion() *record.Question {
	w.t.Helper()
	sight, err := w.clinic.surveys.View(context.Background(), portalActor, w.survey.ID)
	w.clinic.must(err)
	return &sight.Steps[len(sight.Steps)-1].Question
}

// answer fills in the form of a question.
func (w *surveyBot) answer(q *record.Question) {
	w.t.Helper()
	switch q.AnswerType {
	case record.AnswerNumber:
		w.tab.Fill("#answer", "34")
	case record.AnswerText:
		w.tab.Fill("#answer", w.answers.Text)
	case record.AnswerList:
		w.chooseFromList(q)
	case record.AnswerSymptoms:
		w.answerSymptoms(q)
	case record.AnswerChoice, record.AnswerMultipleChoice:
		w.tab.Click("input[name=answer] + label")
	}
}

// answerSymptoms answers for each symptom.
func (w *surveyBot) answerSymptoms(q *record.Question) {
	w.t.Helper()
	switch {
	case q.Meta.Component == record.ComponentSingle:
		w.tick("answer", w.answers.Choice)
	case q.Meta.Component == record.ComponentGroupMultiple:
		for _, option := range q.Meta.Options {
			w.tick("answer-"+option.ID, w.answers.Choice)
		}
	case w.answers.Choice == record.ChoicePresent:
		w.tick("answer", q.Meta.Options[0].ID)
	default:
		w.tick("answer", "-none")
	}
}

func (w *surveyBot) tick(field, value string) {
	w.t.Helper()
	w.tab.Click(fmt.Sprintf("input[name=%q][value=%q] + label", field, value))
}

// chooseFromList adds items of a list: symptoms by free text, a condition by its name, and the
// first item of a list shown in full.
func (w *surveyBot) chooseFromList(q *record.Question) {
	w.t.Helper()
	switch {
	case q.Section == section.Symptoms && q.Meta.Required:
		w.tab.Fill("#words", w.answers.Symptoms)
		clickAndWait(w.tab, "button[value=understand]")
		w.tab.WaitVisible("#chosen input:checked")
	case q.Meta.SourceList.Name == record.ChronicDiseaseList && w.answers.Condition != "":
		w.tab.Fill("#phrase", w.answers.Condition)
		w.tab.WaitVisible("#found input")
		w.tab.Click("#found label")
	case w.tab.Exists("#found input"):
		w.tab.Click("#found label")
	}
}

// check checks what every page must have: its language, one question, no overflow, and the
// focus on the main content, except on the first page, which the browser loads.
func (w *surveyBot) check(seen botView) {
	w.t.Helper()
	where := seen.Name + " at " + w.tab.URL()
	if seen.Lang != w.spec.Language {
		w.t.Errorf("%s is in %q, not in %s", where, seen.Lang, w.spec.Language)
	}
	if !strings.HasPrefix(seen.Title, seen.Heading+" – ") {
		w.t.Errorf("%s has the title %q over the heading %q", where, seen.Title, seen.Heading)
	}
	if seen.Question != nil && seen.Heading != seen.Question.Text {
		w.t.Errorf("%s asks %q, not %q", where, seen.Heading, seen.Question.Text)
	}
	if seen.Focus != "h1" && seen.Name != "link" && !w.noScript {
		w.t.Errorf("the focus of %s is on %s, not on the heading", where, seen.Focus)
	}
	if seen.Unsaid != "" {
		w.t.Errorf("%s says %s", where, seen.Unsaid)
	}
	if seen.Overflow {
		w.t.Errorf("%s is wider than the window", where)
	}
}
