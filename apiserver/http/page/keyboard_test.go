// SPDX-License-Identifier: Apache-2.0

//go:build !race

package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// maxTabStops exceeds the number of tab stops of any page.
const maxTabStops = 40

// A keyboardUser uses only the keyboard.
type keyboardUser struct {
	t   *testing.T
	tab *browser.Tab
}

// tabTo presses Tab until the focus is on the first element whose name, ID or text has this prefix.
func (k *keyboardUser) tabTo(prefix string) {
	k.t.Helper()
	for range maxTabStops {
		k.tab.Press("Tab")
		if matchesElement(k.tab.Focused(), prefix) {
			return
		}
	}
	k.t.Fatalf("pressing Tab %d times does not reach %q at %s", maxTabStops, prefix, k.tab.URL())
}

func matchesElement(e browser.Element, prefix string) bool {
	return e.Name == prefix || e.ID == prefix || strings.HasPrefix(e.Text, prefix)
}

// submit presses Enter and waits for another page.
func (k *keyboardUser) submit() {
	k.t.Helper()
	browser.Evaluate[bool](k.tab, `document.getElementById("main").dataset.old = "", true`)
	k.tab.Press("Enter")
	k.tab.WaitVisible("#main:not([data-old])")
}

// tabStops returns the tab stops of a page in order.
func (k *keyboardUser) tabStops() []string {
	k.t.Helper()
	browser.Evaluate[bool](k.tab, `document.querySelector("a").focus(), true`)
	var stops []string
	for at := k.tab.Focused(); at.Tag != "body" && !slices.Contains(stops, at.Text) && len(stops) < maxTabStops; at = k.tab.Focused() {
		stops = append(stops, at.Text)
		k.tab.Press("Tab")
	}
	return stops
}

// TestKeyboardOnlySurvey answers a survey with Tab, Space, the arrow keys and Enter.
func TestKeyboardOnlySurvey(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	tab := browser.Open(t, desktop)
	tab.IgnoreErrors("422")
	k := &keyboardUser{t, tab}
	tab.Go(c.magicLink(c.createSurvey(surveySpec{Language: "en", Sections: []string{section.Demographics, section.Allergies}})))
	k.tabTo("Open the questions")
	k.submit()
	k.tabTo("Start")
	k.submit()
	k.tabTo("Continue")
	k.submit() // with nothing chosen
	k.tabTo("Choose one")
	k.tabTo("answer")
	tab.Press("Space", "ArrowDown")
	if got := browser.Evaluate[string](tab, `document.querySelector("input:checked").value`); got != "male" {
		t.Errorf("arrow key selects %q, want male", got)
	}
	k.tabTo("Continue")
	k.submit()
	k.tabTo("answer")
	tab.Press("3", "4")
	k.submit() // in the field
	k.tabTo("answer")
	tab.Press("Space")
	want := []string{
		"Skip to the question", "Save and leave", "Back", "medicine", "food", "pollen", "animals", "insects", "latex", "contact", "other", "severe",
		"Continue", "None of these", "Why do we ask this?", "See your answers",
	}
	if diff := cmp.Diff(want, k.tabStops()); diff != "" {
		t.Errorf("tab stops (-want +got):\n%s", diff)
	}
	k.tabTo("Continue")
	k.submit()
	k.tabTo("answer")
	tab.Press("b", "e", "e", "s")
	k.tabTo("Continue")
	k.submit()
	tab.WaitVisible(".page-result")
}

// TestSkipLink checks that the skip link leads past the page header.
func TestSkipLink(t *testing.T) {
	t.Parallel()
	tab := browser.Open(t, phone)
	c := newFixture(t)
	tab.Go(c.magicLink(c.createSurvey(surveySpec{Language: "en", Sections: []string{section.Demographics}})))
	clickAndWait(tab, "main form button")
	tab.Reload()
	tab.Press("Tab", "Enter")
	if got := tab.Focused(); got.ID != "main" {
		t.Errorf("skip link leads to %+v", got)
	}
}
