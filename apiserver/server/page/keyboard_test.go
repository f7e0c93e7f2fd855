// SPDX-License-Identifier: Apache-2.0

//go:build !race

package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser"
)

// mostStops is more than the keys of a page have stops.
const mostStops = 40

// A typist has a keyboard and nothing else.
type typist struct {
	t   *testing.T
	tab *browser.Tab
}

// reach goes on with Tab until the focus is where somebody wants it: on the first element
// whose name, id or text begins so.
func (k *typist) reach(wanted string) {
	k.t.Helper()
	for range mostStops {
		k.tab.Press("Tab")
		if is(k.tab.Focused(), wanted) {
			return
		}
	}
	k.t.Fatalf("%d times Tab does not lead to %q at %s", mostStops, wanted, k.tab.URL())
}

func is(e browser.Element, wanted string) bool {
	return e.Name == wanted || e.ID == wanted || strings.HasPrefix(e.Text, wanted)
}

// enter presses Enter, and waits for another page.
func (k *typist) enter() {
	k.t.Helper()
	browser.Evaluate[bool](k.tab, `document.getElementById("main").dataset.old = "", true`)
	k.tab.Press("Enter")
	k.tab.Await("#main:not([data-old])")
}

// stops are where Tab leads, from the first of the page to the last.
func (k *typist) stops() []string {
	k.t.Helper()
	browser.Evaluate[bool](k.tab, `document.querySelector("a").focus(), true`)
	var stops []string
	for at := k.tab.Focused(); at.Tag != "body" && !slices.Contains(stops, at.Text) && len(stops) < mostStops; at = k.tab.Focused() {
		stops = append(stops, at.Text)
		k.tab.Press("Tab")
	}
	return stops
}

// TestKeyboard answers a survey with Tab, Space, the arrows and Enter.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	tab := browser.Open(t, desktop)
	tab.Allow("422")
	k := &typist{t, tab}
	tab.Go(c.link(c.survey(wish{Language: "en", Sections: []string{section.Demographics, section.Allergies}})))
	k.reach("Open my questions")
	k.enter()
	k.reach("Start")
	k.enter()
	k.reach("Continue")
	k.enter() // with nothing chosen
	k.reach("Choose one")
	k.reach("answer")
	tab.Press("Space", "ArrowDown")
	if got := browser.Evaluate[string](tab, `document.querySelector("input:checked").value`); got != "male" {
		t.Errorf("an arrow chooses %q, want male", got)
	}
	k.reach("Continue")
	k.enter()
	k.reach("answer")
	tab.Press("3", "4")
	k.enter() // in the field
	k.reach("answer")
	tab.Press("Space")
	want := []string{
		"Skip to the question", "Leave this page", "Back", "medicine", "food", "pollen", "animals", "insects", "latex", "contact", "other", "severe",
		"Continue", "None of these", "Why do we ask this?", "Look at your answers",
	}
	if diff := cmp.Diff(want, k.stops()); diff != "" {
		t.Errorf("stops of the keyboard (-want +got):\n%s", diff)
	}
	k.reach("Continue")
	k.enter()
	k.reach("answer")
	tab.Press("b", "e", "e", "s")
	k.reach("Continue")
	k.enter()
	tab.Await(".page-result")
}

// TestSkip leads past what stands on each page.
func TestSkip(t *testing.T) {
	t.Parallel()
	tab := browser.Open(t, phone)
	c := newClinic(t)
	tab.Go(c.link(c.survey(wish{Language: "en", Sections: []string{section.Demographics}})))
	follow(tab, "main form button")
	tab.Reload()
	tab.Press("Tab", "Enter")
	if got := tab.Focused(); got.ID != "main" {
		t.Errorf("the link that skips leads to %+v", got)
	}
}
