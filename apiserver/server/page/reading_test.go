// SPDX-License-Identifier: Apache-2.0

//go:build !race

package page_test

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser"
)

// readings are ways to read pages that ask more of them than a usual window does.
var readings = []struct {
	name    string
	options browser.Options
	turned  bool // as if the language were written from the right
}{
	{name: "320 pixels", options: browser.Options{Width: 320, Height: 568, Mobile: true}},
	{name: "400 per cent", options: browser.Options{Width: 1280, Height: 1024, Zoom: 4}},
	{name: "twice the text", options: browser.Options{Width: 390, Height: 844, TextScale: 2}},
	{name: "no script", options: browser.Options{Mobile: true, NoJavaScript: true}},
	{name: "reduced motion", options: browser.Options{ReducedMotion: true}},
	{name: "from the right", options: browser.Options{Width: 320, Height: 568, Mobile: true}, turned: true},
}

// TestReading walks from the link to the result with all that can be opened open: nothing
// may be wider than the window, and nothing may move.
func TestReading(t *testing.T) {
	for _, reading := range readings {
		t.Run(reading.name, func(t *testing.T) {
			t.Parallel()
			reading.options.Language = "de"
			c := newClinic(t)
			w := &walker{t: t, clinic: c, tab: browser.Open(t, reading.options), plain: reading.options.NoJavaScript, says: feverDe, wish: wish{
				Language: "de", Sections: []string{section.Demographics, section.Symptoms, section.ChronicDiseases, section.Allergies, section.Dynamic},
			}}
			if w.plain {
				w.says.Illness = "" // found while it is typed
			}
			w.survey = c.survey(w.wish)
			drawn := map[string]bool{}
			w.step = func(seen view) {
				openAll(w.tab, reading.turned)
				seen.Overflow = w.tab.Overflow()
				w.check(seen)
				if browser.Evaluate[int](w.tab, `document.getAnimations().length`) > 0 {
					t.Errorf("something moves at %s", w.tab.URL())
				}
				if !drawn[seen.kind()] {
					drawn[seen.kind()] = true
					w.tab.Screenshot(reading.name + "-" + seen.kind())
				}
			}
			w.tab.Go(c.link(w.survey))
			w.walk()
			if !drawn["result"] || !drawn[string(guidance.List)] {
				t.Errorf("the walk ends at %s, after %v", w.tab.URL(), drawn)
			}
		})
	}
}

// openAll opens all that can be opened, and turns the page where somebody wants it.
func openAll(tab *browser.Tab, turned bool) {
	browser.Evaluate[bool](tab, `document.querySelectorAll("details").forEach(each => each.open = true), true`)
	if turned {
		browser.Evaluate[string](tab, `document.documentElement.dir = "rtl"`)
	}
}
