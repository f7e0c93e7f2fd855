// SPDX-License-Identifier: Apache-2.0

//go:build !race

package page_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser"
)

// A walker is somebody who answers surveys in a browser, whatever is asked.
type walker struct {
	t      *testing.T
	clinic *clinic
	tab    *browser.Tab
	survey guidance.Survey
	wish   wish
	says   says
	step   func(view)      // looks at each page, once it is there
	alarms int             // how many pages said that it is an emergency
	plain  bool            // no script of the page runs
	took   []time.Duration // how long each step took, from the click to the page
}

// says is what a walker answers, in the language of the survey.
type says struct {
	Symptoms string // in their own words
	Illness  string // the beginning of the name of one
	Text     string // where a text is asked for
	Choice   string // to each symptom that is asked for: present, absent or unknown
}

// A view is what a walker sees of a page.
type view struct {
	Name     string             // of the page
	Question *guidance.Question // of a page that asks one
	Lang     string
	Title    string
	Heading  string
	Focus    string // what has it: the tag of an element
	Unsaid   string // a text that is missing, or put in wrongly: its id in brackets
	Overflow bool
}

// kind is what a page is, and of a question which of the forms it has.
func (v view) kind() string {
	switch {
	case v.Question == nil:
		return v.Name
	case v.Question.AnswerType == guidance.Symptoms:
		return string(v.Question.Meta.Component)
	}
	return string(v.Question.AnswerType)
}

// mostSteps is far more than a survey has.
const mostSteps = 100

// walk goes from where the tab is to the result.
func (w *walker) walk() {
	w.t.Helper()
	for range mostSteps {
		seen := w.look()
		w.step(seen)
		switch seen.Name {
		case "link":
			w.follow("main form button")
		case "start":
			w.follow("main a.button")
		case "alarm":
			w.alarms++
			w.follow(`main a[href*="seen"]`)
		case "question":
			w.answer(seen.Question)
			w.follow(".actions button")
		case "note":
			w.t.Fatalf("%s says %q; the log says %s", w.tab.URL(), seen.Heading, w.clinic.log.String())
		default:
			return
		}
	}
	w.t.Fatalf("the survey did not end in %d pages; the last is %s", mostSteps, w.tab.URL())
}

// follow goes to the next page, and takes the time.
func (w *walker) follow(selector string) {
	w.t.Helper()
	began := time.Now()
	follow(w.tab, selector)
	w.took = append(w.took, time.Since(began))
}

// look sees the page that is there.
func (w *walker) look() view {
	w.t.Helper()
	seen := browser.Evaluate[view](w.tab, `({
		name: document.body.className.replace("page-", ""), lang: document.documentElement.lang, title: document.title,
		heading: document.querySelector("h1").innerText, focus: document.activeElement.localName,
		unsaid: document.body.innerText.match(/\[[a-z-]+\.[^\]]*\]/)?.[0] ?? "",
	})`)
	seen.Overflow = w.tab.Overflow()
	if seen.Name == "question" {
		seen.Question = w.asked()
	}
	return seen
}

// asked is the question that the survey is at.
func (w *walker) asked() *guidance.Question {
	w.t.Helper()
	sight, err := w.clinic.surveys.See(context.Background(), portal, w.survey.ID)
	w.clinic.must(err)
	return &sight.Steps[len(sight.Steps)-1].Question
}

// answer fills in the form of a question.
func (w *walker) answer(q *guidance.Question) {
	w.t.Helper()
	switch q.AnswerType {
	case guidance.Number:
		w.tab.Fill("#answer", "34")
	case guidance.Text:
		w.tab.Fill("#answer", w.says.Text)
	case guidance.List:
		w.choose(q)
	case guidance.Symptoms:
		w.judge(q)
	case guidance.Choice, guidance.MultipleChoice:
		w.tab.Click("input[name=answer] + label")
	}
}

// judge says of each symptom whether it is there.
func (w *walker) judge(q *guidance.Question) {
	w.t.Helper()
	switch {
	case q.Meta.Component == guidance.Single:
		w.tick("answer", w.says.Choice)
	case q.Meta.Component == guidance.GroupMultiple:
		for _, option := range q.Meta.Options {
			w.tick("answer-"+option.ID, w.says.Choice)
		}
	case w.says.Choice == guidance.Present:
		w.tick("answer", q.Meta.Options[0].ID)
	default:
		w.tick("answer", "-none")
	}
}

func (w *walker) tick(field, value string) {
	w.t.Helper()
	w.tab.Click(fmt.Sprintf("input[name=%q][value=%q] + label", field, value))
}

// choose adds to a list: symptoms in the walker's own words, an illness by its name, and of
// what is shown whole the first.
func (w *walker) choose(q *guidance.Question) {
	w.t.Helper()
	switch {
	case q.Section == section.Symptoms && q.Meta.Required:
		w.tab.Fill("#words", w.says.Symptoms)
		follow(w.tab, "button[value=understand]")
		w.tab.Await("#chosen input:checked")
	case q.Meta.SourceList.Name == guidance.ChronicDiseaseList && w.says.Illness != "":
		w.tab.Fill("#phrase", w.says.Illness)
		w.tab.Await("#found input")
		w.tab.Click("#found label")
	case w.tab.Exists("#found input"):
		w.tab.Click("#found label")
	}
}

// check says what every page must have: its language, one question, room, and the focus
// where somebody goes on, but for the first page, which the browser loads.
func (w *walker) check(seen view) {
	w.t.Helper()
	where := seen.Name + " at " + w.tab.URL()
	if seen.Lang != w.wish.Language {
		w.t.Errorf("%s is in %q, not in %s", where, seen.Lang, w.wish.Language)
	}
	if !strings.HasPrefix(seen.Title, seen.Heading+" – ") {
		w.t.Errorf("%s has the title %q over the heading %q", where, seen.Title, seen.Heading)
	}
	if seen.Question != nil && seen.Heading != seen.Question.Text {
		w.t.Errorf("%s asks %q, not %q", where, seen.Heading, seen.Question.Text)
	}
	if seen.Focus != "h1" && seen.Name != "link" && !w.plain {
		w.t.Errorf("the focus of %s is on %s, not on the heading", where, seen.Focus)
	}
	if seen.Unsaid != "" {
		w.t.Errorf("%s says %s", where, seen.Unsaid)
	}
	if seen.Overflow {
		w.t.Errorf("%s is wider than the window", where)
	}
}
