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
func (b *surveyBot) completeSurvey() {
	b.t.Helper()
	for range maxSteps {
		seen := b.readView()
		b.onStep(seen)
		switch seen.Name {
		case "link":
			b.clickAndWait("main form button")
		case "start":
			b.clickAndWait("main a.button")
		case "alarm":
			b.emergencies++
			b.clickAndWait(`main a[href*="seen"]`)
		case "question":
			b.answer(seen.Question)
			b.clickAndWait(".actions button")
		case "note":
			b.t.Fatalf("%s: unexpected page %q; log: %s", b.tab.URL(), seen.Heading, b.clinic.log.String())
		default:
			return
		}
	}
	b.t.Fatalf("survey did not end within %d pages; last page: %s", maxSteps, b.tab.URL())
}

// clickAndWait goes to the next page and records the duration.
func (b *surveyBot) clickAndWait(selector string) {
	b.t.Helper()
	began := time.Now()
	clickAndWait(b.tab, selector)
	b.stepTimes = append(b.stepTimes, time.Since(began))
}

// readView reads the current page.
func (b *surveyBot) readView() botView {
	b.t.Helper()
	seen := browser.Evaluate[botView](b.tab, `({
		name: document.body.className.replace("page-", ""), lang: document.documentElement.lang, title: document.title,
		heading: document.querySelector("h1").innerText, focus: document.activeElement.localName,
		unsaid: document.body.innerText.match(/\[[a-z-]+\.[^\]]*\]/)?.[0] ?? "",
	})`)
	seen.Overflow = b.tab.HasHorizontalOverflow()
	if seen.Name == "question" {
		seen.Question = b.currentQuestion()
	}
	return seen
}

// currentQuestion returns the current question of the survey.
func (b *surveyBot) currentQuestion() *record.Question {
	b.t.Helper()
	sight, err := b.clinic.surveys.View(context.Background(), portalActor, b.survey.ID)
	b.clinic.must(err)
	return &sight.Steps[len(sight.Steps)-1].Question
}

// answer fills in the form of a question.
func (b *surveyBot) answer(q *record.Question) {
	b.t.Helper()
	switch q.AnswerType {
	case record.AnswerNumber:
		b.tab.Fill("#answer", "34")
	case record.AnswerText:
		b.tab.Fill("#answer", b.answers.Text)
	case record.AnswerList:
		b.chooseFromList(q)
	case record.AnswerSymptoms:
		b.answerSymptoms(q)
	case record.AnswerChoice, record.AnswerMultipleChoice:
		b.tab.Click("input[name=answer] + label")
	}
}

// answerSymptoms answers for each symptom.
func (b *surveyBot) answerSymptoms(q *record.Question) {
	b.t.Helper()
	switch {
	case q.Meta.Component == record.ComponentSingle:
		b.tick("answer", b.answers.Choice)
	case q.Meta.Component == record.ComponentGroupMultiple:
		for _, option := range q.Meta.Options {
			b.tick("answer-"+option.ID, b.answers.Choice)
		}
	case b.answers.Choice == record.ChoicePresent:
		b.tick("answer", q.Meta.Options[0].ID)
	default:
		b.tick("answer", "-none")
	}
}

func (b *surveyBot) tick(field, value string) {
	b.t.Helper()
	b.tab.Click(fmt.Sprintf("input[name=%q][value=%q] + label", field, value))
}

// chooseFromList adds items of a list: symptoms by free text, a condition by its name, and the
// first item of a list shown in full.
func (b *surveyBot) chooseFromList(q *record.Question) {
	b.t.Helper()
	switch {
	case q.Section == section.Symptoms && q.Meta.Required:
		b.tab.Fill("#words", b.answers.Symptoms)
		clickAndWait(b.tab, "button[value=understand]")
		b.tab.WaitVisible("#chosen input:checked")
	case q.Meta.SourceList.Name == record.ChronicDiseaseList && b.answers.Condition != "":
		b.tab.Fill("#phrase", b.answers.Condition)
		b.tab.WaitVisible("#found input")
		b.tab.Click("#found label")
	case b.tab.Exists("#found input"):
		b.tab.Click("#found label")
	}
}

// check checks what every page must have: its language, one question, no overflow, and the
// focus on the main content, except on the first page, which the browser loads.
func (b *surveyBot) check(seen botView) {
	b.t.Helper()
	where := seen.Name + " at " + b.tab.URL()
	if seen.Lang != b.spec.Language {
		b.t.Errorf("%s: got language %q, want %s", where, seen.Lang, b.spec.Language)
	}
	if !strings.HasPrefix(seen.Title, seen.Heading+" – ") {
		b.t.Errorf("%s: title %q does not match heading %q", where, seen.Title, seen.Heading)
	}
	if seen.Question != nil && seen.Heading != seen.Question.Text {
		b.t.Errorf("%s: got question %q, want %q", where, seen.Heading, seen.Question.Text)
	}
	if seen.Focus != "h1" && seen.Name != "link" && !b.noScript {
		b.t.Errorf("%s: focus is on %s, want the heading", where, seen.Focus)
	}
	if seen.Unsaid != "" {
		b.t.Errorf("%s: missing message %s", where, seen.Unsaid)
	}
	if seen.Overflow {
		b.t.Errorf("%s: page is wider than the window", where)
	}
}
