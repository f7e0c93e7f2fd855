// SPDX-License-Identifier: Apache-2.0

//go:build !race

package page_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// An accessibilityChecker checks named states of pages.
type accessibilityChecker struct {
	t          *testing.T
	tab        *browser.Tab
	appearance theme
	seen       map[string]bool
}

// check reports accessibility barriers: violated rules, targets that are too small, and fields
// without a name. It takes a screenshot of the state.
func (c *accessibilityChecker) check(state string) {
	c.t.Helper()
	c.seen[state] = true
	rules := c.appearance.rules
	if slices.Contains(fullyCheckedStates, state) {
		rules = nil
	}
	for _, violation := range c.tab.Axe(rules...) {
		c.t.Errorf("%s: %s", state, violation)
	}
	c.tab.Screenshot(c.appearance.name + "-" + state)
	if len(c.appearance.rules) > 0 {
		return
	}
	for _, target := range c.tab.SmallTargets() {
		c.t.Errorf("%s: %s", state, target)
	}
	for _, unnamed := range findUnnamed(c.tab.AccessibilityTree()) {
		c.t.Errorf("%s: %s", state, unnamed)
	}
}

// findUnnamed returns the fields, links and buttons without an accessible name, and the choices
// without an accessible group.
func findUnnamed(tree []browser.AXNode) []string {
	var found []string
	var above []browser.AXNode // from the root to the node
	for _, node := range tree {
		for len(above) > 0 && above[len(above)-1].Depth >= node.Depth {
			above = above[:len(above)-1]
		}
		above = append(above, node)
		switch {
		case node.Ignored:
		case isControl(node) && node.Name == "":
			found = append(found, fmt.Sprintf("missing accessible name:%s", node))
		case isChoice(node) && !slices.ContainsFunc(above, isNamedGroup):
			found = append(found, fmt.Sprintf("missing accessible group:%s", node))
		}
	}
	return found
}

func isControl(n browser.AXNode) bool {
	return isChoice(n) || slices.Contains([]string{"textbox", "searchbox", "button", "link", "heading", "meter", "DisclosureTriangle"}, n.Role)
}

func isChoice(n browser.AXNode) bool { return n.Role == "radio" || n.Role == "checkbox" }

func isNamedGroup(n browser.AXNode) bool {
	return (n.Role == "group" || n.Role == "radiogroup") && n.Name != ""
}

// fullyCheckedStates are the states checked with all rules in every theme; together they contain
// everything that a page can have.
var fullyCheckedStates = []string{"alarm", "body", "group_multiple-wrong", "result-open", "sign-in-wrong", "start"}

// A theme is a way to view the pages, with the rules that it affects; if empty, all rules.
type theme struct {
	name    string
	options browser.Options
	rules   []string
}

var themeCache = []theme{
	{"light", browser.Options{Mobile: true}, nil},
	{"dark", browser.Options{Dark: true}, []string{"color-contrast"}},
	{"forced", browser.Options{ForcedColors: true, Dark: true}, []string{"color-contrast"}},
}

// states are the states that a page can be in.
var states = []string{
	"alarm", "answered", "answers", "article", "body", "choice", "choice-wrong", "code", "code-wrong", "crisis", "crisis-alarm", "crisis-result", "demo", "expired", "found", "gone",
	"group_multiple", "group_multiple-wrong", "group_single", "group_single-wrong", "index", "left", "link", "list", "list-wrong",
	"lists", "missing", "multiple_choice", "nothing-understood", "number", "number-wrong", "region", "result", "result-open",
	"sign-in", "sign-in-wrong", "single", "single-wrong", "start", "surveys", "text", "text-wrong", "understood", "why",
}

func TestAccessibility(t *testing.T) {
	for _, look := range themeCache {
		t.Run(look.name, func(t *testing.T) {
			t.Parallel()
			c := newFixture(t)
			tab := browser.Open(t, look.options)
			tab.IgnoreErrors("422", "409") // rejected forms and expired surveys
			j := &accessibilityChecker{t: t, tab: tab, appearance: look, seen: map[string]bool{}}
			checkSurvey(j, c)
			checkResult(j)
			checkSignIn(j, c)
			checkErrorPages(j, c)
			checkCrisis(j, c)
			checkExpired(j, c)
			if diff := cmp.Diff(states, slices.Sorted(maps.Keys(j.seen))); diff != "" {
				t.Errorf("checked states (-want +got):\n%s", diff)
			}
		})
	}
}

var allSections = []string{
	section.Demographics, section.VisitReason, section.Symptoms, section.ChronicDiseases, section.Allergies, section.Dynamic,
}

// checkSurvey answers a survey and checks each kind of page: as it is, and with an error.
func checkSurvey(j *accessibilityChecker, c *fixture) {
	j.t.Helper()
	w := &surveyBot{t: j.t, clinic: c, tab: j.tab, spec: surveySpec{
		Language: "en", Sections: allSections, Contact: record.Contact{Email: "pat@example.org"},
	}, answers: botAnswers{
		Symptoms: "I have a fever and a stiff neck.", Condition: "asthma", Text: "It began today.", Choice: record.ChoiceUnknown,
	}}
	w.survey = c.createSurvey(w.spec)
	w.onStep = func(seen botView) {
		kind := seen.kind()
		if j.seen[kind] && kind != "list" {
			return
		}
		j.check(kind)
		if seen.Question == nil {
			return
		}
		if w.fillInvalid(seen.Question) {
			j.checkFormError(w, kind+"-wrong")
		}
		switch {
		case kind == "list" && seen.Question.Section == section.Symptoms:
			j.checkBodyMap(w)
		case kind == "list":
			j.checkSearch(w)
		case kind == "single":
			j.checkQuestionPages()
		}
	}
	j.tab.Go(c.magicLink(w.survey))
	w.completeSurvey()
}

// fillInvalid fills in a form incorrectly; ok is false if that is not possible.
func (b *surveyBot) fillInvalid(q *record.Question) bool {
	b.t.Helper()
	switch {
	case q.AnswerType == record.AnswerNumber:
		b.tab.Fill("#answer", "200")
	case q.AnswerType == record.AnswerText:
		browser.Evaluate[string](b.tab, `document.getElementById("answer").value = "a".repeat(5000)`)
	case q.AnswerType == record.AnswerMultipleChoice, q.AnswerType == record.AnswerList && !q.Meta.Required:
		return false // an empty answer is valid
	}
	clickAndWait(b.tab, ".actions button")
	return true
}

// checkFormError checks a rejected form: it reports the error first, also in the title, and links to
// the field.
func (c *accessibilityChecker) checkFormError(w *surveyBot, state string) {
	c.t.Helper()
	c.check(state)
	if got := c.tab.Focused(); got.ID != "problems" {
		c.t.Errorf("%s: focus is on %s, want the error summary", state, got.Tag)
	}
	if title := w.readView().Title; !strings.HasPrefix(title, "Problem: ") {
		c.t.Errorf("%s: got title %q", state, title)
	}
	c.tab.Click("#problems a")
	if got := c.tab.Focused(); got.Tag != "input" && got.Tag != "textarea" {
		c.t.Errorf("%s: error link leads to %s, want the field", state, got.Tag)
	}
}

// checkBodyMap checks how symptoms are found.
func (c *accessibilityChecker) checkBodyMap(w *surveyBot) {
	c.t.Helper()
	c.tab.Fill("#words", "Lorem ipsum")
	clickAndWait(c.tab, "button[value=understand]")
	c.checkFormError(w, "nothing-understood")
	c.tab.Click("details.body summary")
	c.check("body")
	clickAndWait(c.tab, "#region-chest")
	c.checkNext("region")
	c.tab.Fill("#words", w.answers.Symptoms)
	clickAndWait(c.tab, "button[value=understand]")
	c.checkNext("understood")
}

// checkSearch checks the search results of a list.
func (c *accessibilityChecker) checkSearch(w *surveyBot) {
	c.t.Helper()
	c.seen["lists"] = true
	c.tab.Fill("#phrase", w.answers.Condition)
	clickAndWait(c.tab, "button[value=find]")
	c.checkNext("found")
}

// checkNext checks a page reached from within a page.
func (c *accessibilityChecker) checkNext(state string) {
	c.t.Helper()
	c.check(state)
	if !browser.Evaluate[bool](c.tab, `document.activeElement.matches("[data-next]")`) {
		c.t.Errorf("%s: focus is on %s, want the results", state, c.tab.Focused().Tag)
	}
}

// checkQuestionPages checks the pages about a question, and returns to it.
func (c *accessibilityChecker) checkQuestionPages() {
	c.t.Helper()
	clickAndWait(c.tab, `main a[href$="/why"]`)
	c.check("why")
	clickAndWait(c.tab, "main a.button")
	clickAndWait(c.tab, `main a[href$="/answers"]`)
	c.check("answers")
	clickAndWait(c.tab, "dl a")
	c.check("answered")
	clickAndWait(c.tab, `main a[href$="/answers"]`)
	clickAndWait(c.tab, "main a.button")
}

// checkResult checks the expandable parts of a result.
func checkResult(j *accessibilityChecker) {
	j.t.Helper()
	browser.Evaluate[bool](j.tab, `document.querySelectorAll("details").forEach(each => each.open = true), true`)
	j.check("result-open")
	clickAndWait(j.tab, ".condition a")
	j.check("article")
}

// checkSignIn signs in with a code.
func checkSignIn(j *accessibilityChecker, c *fixture) {
	j.t.Helper()
	j.tab.Go(c.address + "/survey")
	j.check("sign-in")
	clickAndWait(j.tab, "main form button")
	j.check("sign-in-wrong")
	j.tab.Fill("#contact", "pat@example.org")
	clickAndWait(j.tab, "main form button")
	j.check("code")
	j.tab.Fill("#code", "000000")
	clickAndWait(j.tab, "main form button")
	j.check("code-wrong")
	j.tab.Fill("#code", (<-c.sentPasswords).Code)
	clickAndWait(j.tab, "main form button")
	j.check("surveys")
	clickAndWait(j.tab, "main form button")
	j.check("left")
}

// checkErrorPages checks the error pages.
func checkErrorPages(j *accessibilityChecker, c *fixture) {
	j.t.Helper()
	other := c.createSurvey(surveySpec{Language: "en"})
	for _, errorPage := range []struct {
		state, path string
		status      int
	}{
		{"index", "/", http.StatusOK},
		{"demo", "/survey/demo", http.StatusUnauthorized},
		{"gone", "/survey/" + other.ID, http.StatusUnauthorized},
		{"missing", "/survey/" + other.ID + "/nowhere", http.StatusNotFound},
	} {
		j.tab.Go(c.address + errorPage.path)
		j.check(errorPage.state)
		if got := j.tab.Status(); got != errorPage.status {
			j.t.Errorf("%s: got status %d, want %d", errorPage.state, got, errorPage.status)
		}
	}
}

// checkCrisis checks what a patient in a crisis reads. When the crisis line first appears, it is
// announced with the heading, although it precedes the focused element.
func checkCrisis(j *accessibilityChecker, c *fixture) {
	j.t.Helper()
	w := &surveyBot{t: j.t, clinic: c, tab: j.tab, spec: surveySpec{Language: "en", Patient: testWoman, Sections: []string{section.Symptoms, section.Notes}}, answers: botAnswers{
		Symptoms: "I think about ending my life.", Text: "Nothing.",
	}}
	w.survey = c.createSurvey(w.spec)
	w.onStep = func(seen botView) {
		switch described := browser.Evaluate[string](j.tab, `document.activeElement.getAttribute("aria-describedby") ?? ""`); {
		case seen.Name == "alarm":
			j.check("crisis-alarm")
			if described != "crisis" {
				j.t.Errorf("emergency heading is described by %q", described)
			}
		case seen.Question != nil && seen.Question.Section == section.Notes:
			j.check("crisis")
		case seen.Name == "result":
			j.check("crisis-result")
		}
	}
	j.tab.Go(c.magicLink(w.survey))
	w.completeSurvey()
}

// checkExpired checks the page of an expired survey. The survey's session expires with it, so the
// patient must have signed in with a code.
func checkExpired(j *accessibilityChecker, c *fixture) {
	j.t.Helper()
	c.createSurvey(surveySpec{Language: "en", Contact: record.Contact{Email: "late@example.org"}, Expires: c.now().Add(time.Hour)})
	c.clockOffset.Store(int64(2 * time.Hour))
	j.tab.Go(c.address + "/survey")
	j.tab.Fill("#contact", "late@example.org")
	clickAndWait(j.tab, "main form button")
	j.tab.Fill("#code", (<-c.sentPasswords).Code)
	clickAndWait(j.tab, "main form button")
	clickAndWait(j.tab, "main .list a")
	j.check("expired")
	if heading := j.tab.Text("h1"); heading != "You can no longer answer these questions" {
		j.t.Errorf("got heading %q for an expired survey", heading)
	}
}
