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

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser"
)

// A judge looks at states of pages, each of which has a name.
type judge struct {
	t    *testing.T
	tab  *browser.Tab
	look look
	seen map[string]bool
}

// see finds what keeps somebody out: rules that are broken, targets too small to be hit,
// and fields without a name. It draws the state.
func (j *judge) see(state string) {
	j.t.Helper()
	j.seen[state] = true
	rules := j.look.rules
	if slices.Contains(closely, state) {
		rules = nil
	}
	for _, violation := range j.tab.Axe(rules...) {
		j.t.Errorf("%s: %s", state, violation)
	}
	j.tab.Screenshot(j.look.name + "-" + state)
	if len(j.look.rules) > 0 {
		return
	}
	for _, target := range j.tab.Targets() {
		j.t.Errorf("%s: %s", state, target)
	}
	for _, unnamed := range unnamed(j.tab.Tree()) {
		j.t.Errorf("%s: %s", state, unnamed)
	}
}

// unnamed are the fields, links and buttons that a screen reader has no name for, and the
// choices that it does not say of what.
func unnamed(tree []browser.Node) []string {
	var found []string
	var above []browser.Node // from the root to the node
	for _, node := range tree {
		for len(above) > 0 && above[len(above)-1].Depth >= node.Depth {
			above = above[:len(above)-1]
		}
		above = append(above, node)
		switch {
		case node.Ignored:
		case isControl(node) && node.Name == "":
			found = append(found, fmt.Sprintf("there is no name for%s", node))
		case isChoice(node) && !slices.ContainsFunc(above, isNamedGroup):
			found = append(found, fmt.Sprintf("no group says what this is a choice of:%s", node))
		}
	}
	return found
}

func isControl(n browser.Node) bool {
	return isChoice(n) || slices.Contains([]string{"textbox", "searchbox", "button", "link", "heading", "meter", "DisclosureTriangle"}, n.Role)
}

func isChoice(n browser.Node) bool { return n.Role == "radio" || n.Role == "checkbox" }

func isNamedGroup(n browser.Node) bool {
	return (n.Role == "group" || n.Role == "radiogroup") && n.Name != ""
}

// closely are the states that are judged by all rules in every look: between them they
// have all that a page can have.
var closely = []string{"alarm", "body", "group_multiple-wrong", "result-open", "sign-in-wrong", "start"}

// A look is how somebody sees pages, with the rules that it makes a difference to; all
// where there are none.
type look struct {
	name    string
	options browser.Options
	rules   []string
}

var looks = []look{
	{"light", browser.Options{Mobile: true}, nil},
	{"dark", browser.Options{Dark: true}, []string{"color-contrast"}},
	{"forced", browser.Options{ForcedColors: true, Dark: true}, []string{"color-contrast"}},
}

// states are those that a page can be in.
var states = []string{
	"alarm", "answered", "answers", "article", "body", "choice", "choice-wrong", "code", "code-wrong", "crisis", "crisis-alarm", "crisis-result", "demo", "expired", "found", "gone",
	"group_multiple", "group_multiple-wrong", "group_single", "group_single-wrong", "index", "left", "link", "list", "list-wrong",
	"lists", "missing", "multiple_choice", "nothing-understood", "number", "number-wrong", "region", "result", "result-open",
	"sign-in", "sign-in-wrong", "single", "single-wrong", "start", "surveys", "text", "text-wrong", "understood", "why",
}

func TestAccessible(t *testing.T) {
	for _, look := range looks {
		t.Run(look.name, func(t *testing.T) {
			t.Parallel()
			c := newClinic(t)
			tab := browser.Open(t, look.options)
			tab.Allow("422", "409") // forms that are sent back, and what is over
			j := &judge{t: t, tab: tab, look: look, seen: map[string]bool{}}
			answerJudged(j, c)
			readResult(j)
			signInJudged(j, c)
			getLost(j, c)
			needSomebody(j, c)
			comeLate(j, c)
			if diff := cmp.Diff(states, slices.Sorted(maps.Keys(j.seen))); diff != "" {
				t.Errorf("states that were judged (-want +got):\n%s", diff)
			}
		})
	}
}

var allSections = []string{
	section.Demographics, section.VisitReason, section.Symptoms, section.ChronicDiseases, section.Allergies, section.Dynamic,
}

// answerJudged answers a survey, and has each kind of page judged: as it is, and with
// something wrong.
func answerJudged(j *judge, c *clinic) {
	j.t.Helper()
	w := &walker{t: j.t, clinic: c, tab: j.tab, wish: wish{
		Language: "en", Sections: allSections, Contact: guidance.Contact{Email: "pat@example.org"},
	}, says: says{
		Symptoms: "I have a fever and a stiff neck.", Illness: "asthma", Text: "It began today.", Choice: guidance.Unknown,
	}}
	w.survey = c.survey(w.wish)
	w.step = func(seen view) {
		kind := seen.kind()
		if j.seen[kind] && kind != "list" {
			return
		}
		j.see(kind)
		if seen.Question == nil {
			return
		}
		if w.mistake(seen.Question) {
			j.seeProblem(w, kind+"-wrong")
		}
		switch {
		case kind == "list" && seen.Question.Section == section.Symptoms:
			j.seeBody(w)
		case kind == "list":
			j.seeSearch(w)
		case kind == "single":
			j.lookAround()
		}
	}
	j.tab.Go(c.link(w.survey))
	w.walk()
}

// mistake fills in a form wrongly; not ok where that is not possible.
func (w *walker) mistake(q *guidance.Question) bool {
	w.t.Helper()
	switch {
	case q.AnswerType == guidance.Number:
		w.tab.Fill("#answer", "200")
	case q.AnswerType == guidance.Text:
		browser.Evaluate[string](w.tab, `document.getElementById("answer").value = "a".repeat(5000)`)
	case q.AnswerType == guidance.MultipleChoice, q.AnswerType == guidance.List && !q.Meta.Required:
		return false // nothing is an answer
	}
	follow(w.tab, ".actions button")
	return true
}

// seeProblem judges a form that was sent back: it says so first, in the title too, and
// leads to the field.
func (j *judge) seeProblem(w *walker, state string) {
	j.t.Helper()
	j.see(state)
	if got := j.tab.Focused(); got.ID != "problems" {
		j.t.Errorf("%s: the focus is on %s, not on what is wrong", state, got.Tag)
	}
	if title := w.look().Title; !strings.HasPrefix(title, "Problem: ") {
		j.t.Errorf("%s: the title is %q", state, title)
	}
	j.tab.Click("#problems a")
	if got := j.tab.Focused(); got.Tag != "input" && got.Tag != "textarea" {
		j.t.Errorf("%s: what is wrong leads to %s, not to the field", state, got.Tag)
	}
}

// seeBody judges how symptoms are found.
func (j *judge) seeBody(w *walker) {
	j.t.Helper()
	j.tab.Fill("#words", "Lorem ipsum")
	follow(j.tab, "button[value=understand]")
	j.seeProblem(w, "nothing-understood")
	j.tab.Click("details.body summary")
	j.see("body")
	follow(j.tab, "#region-chest")
	j.seeNext("region")
	j.tab.Fill("#words", w.says.Symptoms)
	follow(j.tab, "button[value=understand]")
	j.seeNext("understood")
}

// seeSearch judges what is found in a list.
func (j *judge) seeSearch(w *walker) {
	j.t.Helper()
	j.seen["lists"] = true
	j.tab.Fill("#phrase", w.says.Illness)
	follow(j.tab, "button[value=find]")
	j.seeNext("found")
}

// seeNext judges a page that somebody goes on within.
func (j *judge) seeNext(state string) {
	j.t.Helper()
	j.see(state)
	if !browser.Evaluate[bool](j.tab, `document.activeElement.matches("[data-next]")`) {
		j.t.Errorf("%s: the focus is on %s, not on what was found", state, j.tab.Focused().Tag)
	}
}

// lookAround judges the pages about a question, and comes back to it.
func (j *judge) lookAround() {
	j.t.Helper()
	follow(j.tab, `main a[href$="/why"]`)
	j.see("why")
	follow(j.tab, "main a.button")
	follow(j.tab, `main a[href$="/answers"]`)
	j.see("answers")
	follow(j.tab, "dl a")
	j.see("answered")
	follow(j.tab, `main a[href$="/answers"]`)
	follow(j.tab, "main a.button")
}

// readResult judges what can be opened of a result.
func readResult(j *judge) {
	j.t.Helper()
	browser.Evaluate[bool](j.tab, `document.querySelectorAll("details").forEach(each => each.open = true), true`)
	j.see("result-open")
	follow(j.tab, ".condition a")
	j.see("article")
}

// signInJudged signs in with a code.
func signInJudged(j *judge, c *clinic) {
	j.t.Helper()
	j.tab.Go(c.address + "/survey")
	j.see("sign-in")
	follow(j.tab, "main form button")
	j.see("sign-in-wrong")
	j.tab.Fill("#contact", "pat@example.org")
	follow(j.tab, "main form button")
	j.see("code")
	j.tab.Fill("#code", "000000")
	follow(j.tab, "main form button")
	j.see("code-wrong")
	j.tab.Fill("#code", (<-c.sent).Code)
	follow(j.tab, "main form button")
	j.see("surveys")
	follow(j.tab, "main form button")
	j.see("left")
}

// getLost judges the pages of those who are wrong.
func getLost(j *judge, c *clinic) {
	j.t.Helper()
	other := c.survey(wish{Language: "en"})
	for _, lost := range []struct {
		state, path string
		status      int
	}{
		{"index", "/", http.StatusOK},
		{"demo", "/survey/demo", http.StatusUnauthorized},
		{"gone", "/survey/" + other.ID, http.StatusUnauthorized},
		{"missing", "/survey/" + other.ID + "/nowhere", http.StatusNotFound},
	} {
		j.tab.Go(c.address + lost.path)
		j.see(lost.state)
		if got := j.tab.Status(); got != lost.status {
			j.t.Errorf("%s has the status %d, want %d", lost.state, got, lost.status)
		}
	}
}

// needSomebody judges what somebody in a crisis reads. Whom to talk to is said with the
// heading when it is new, though it stands before what has the focus.
func needSomebody(j *judge, c *clinic) {
	j.t.Helper()
	w := &walker{t: j.t, clinic: c, tab: j.tab, wish: wish{Language: "en", Patient: woman, Sections: []string{section.Symptoms, section.Notes}}, says: says{
		Symptoms: "I think about ending my life.", Text: "Nothing.",
	}}
	w.survey = c.survey(w.wish)
	w.step = func(seen view) {
		switch described := browser.Evaluate[string](j.tab, `document.activeElement.getAttribute("aria-describedby") ?? ""`); {
		case seen.Name == "alarm":
			j.see("crisis-alarm")
			if described != "crisis" {
				j.t.Errorf("the heading of the alarm is described by %q", described)
			}
		case seen.Question != nil && seen.Question.Section == section.Notes:
			j.see("crisis")
		case seen.Name == "result":
			j.see("crisis-result")
		}
	}
	j.tab.Go(c.link(w.survey))
	w.walk()
}

// comeLate judges the page of a survey that can be answered no more. The session of a
// survey ends with it: who still has one signed in by a code.
func comeLate(j *judge, c *clinic) {
	j.t.Helper()
	c.survey(wish{Language: "en", Contact: guidance.Contact{Email: "late@example.org"}, Expires: c.now().Add(time.Hour)})
	c.skew.Store(int64(2 * time.Hour))
	j.tab.Go(c.address + "/survey")
	j.tab.Fill("#contact", "late@example.org")
	follow(j.tab, "main form button")
	j.tab.Fill("#code", (<-c.sent).Code)
	follow(j.tab, "main form button")
	follow(j.tab, "main .list a")
	j.see("expired")
	if heading := j.tab.Text("h1"); heading != "These questions are closed" {
		j.t.Errorf("who comes late reads %q", heading)
	}
}
