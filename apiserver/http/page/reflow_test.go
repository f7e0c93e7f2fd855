// SPDX-License-Identifier: Apache-2.0

//go:build !race

package page_test

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// readingModes are demanding ways to read the pages.
var readingModes = []struct {
	name    string
	options browser.Options
	turned  bool // right-to-left
}{
	{name: "320 pixels", options: browser.Options{Width: 320, Height: 568, Mobile: true}},
	{name: "400 per cent", options: browser.Options{Width: 1280, Height: 1024, Zoom: 4}},
	{name: "twice the text", options: browser.Options{Width: 390, Height: 844, TextScale: 2}},
	{name: "no script", options: browser.Options{Mobile: true, NoJavaScript: true}},
	{name: "reduced motion", options: browser.Options{ReducedMotion: true}},
	{name: "from the right", options: browser.Options{Width: 320, Height: 568, Mobile: true}, turned: true},
}

// TestReflowAndTextScaling walks from the link to the result with everything expanded: nothing
// may be wider than the window, and nothing may shift.
func TestReflowAndTextScaling(t *testing.T) {
	for _, reading := range readingModes {
		t.Run(reading.name, func(t *testing.T) {
			t.Parallel()
			reading.options.Language = "de"
			c := newFixture(t)
			w := &surveyBot{t: t, clinic: c, tab: browser.Open(t, reading.options), noScript: reading.options.NoJavaScript, answers: feverDe, spec: surveySpec{
				Language: "de", Sections: []string{section.Demographics, section.Symptoms, section.ChronicDiseases, section.Allergies, section.Dynamic},
			}}
			if w.noScript {
				w.answers.Condition = "" // search results appear while typing
			}
			w.survey = c.createSurvey(w.spec)
			drawn := map[string]bool{}
			w.onStep = func(seen botView) {
				expandAll(w.tab, reading.turned)
				seen.Overflow = w.tab.HasHorizontalOverflow()
				w.check(seen)
				if browser.Evaluate[int](w.tab, `document.getAnimations().length`) > 0 {
					t.Errorf("layout shift at %s", w.tab.URL())
				}
				if !drawn[seen.kind()] {
					drawn[seen.kind()] = true
					w.tab.Screenshot(reading.name + "-" + seen.kind())
				}
			}
			w.tab.Go(c.magicLink(w.survey))
			w.completeSurvey()
			if !drawn["result"] || !drawn[string(record.AnswerList)] {
				t.Errorf("survey ended at %s, after %v", w.tab.URL(), drawn)
			}
		})
	}
}

// expandAll expands everything, and sets the direction to right-to-left if turned.
func expandAll(tab *browser.Tab, rightToLeft bool) {
	browser.Evaluate[bool](tab, `document.querySelectorAll("details").forEach(each => each.open = true), true`)
	if rightToLeft {
		browser.Evaluate[string](tab, `document.documentElement.dir = "rtl"`)
	}
}
