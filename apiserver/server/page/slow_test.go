// SPDX-License-Identifier: Apache-2.0

//go:build !race

package page_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/page/browser"
)

// A slow line is one at the edge of a mobile network.
const (
	slowLatency  = 400 * time.Millisecond // there and back
	slowKilobits = 400                    // a second
)

// mostBytes is what a step may cost: what such a line carries in a third of a second.
const mostBytes = 16 << 10

// TestSlow walks on a slow line. What keeps it quick is that from the second step on a
// step is one answer and the page that follows, with nothing beside it; how long that
// takes is told, and judged by nobody.
func TestSlow(t *testing.T) {
	t.Parallel()
	c := newClinic(t)
	tab := browser.Open(t, phone)
	w := &walker{t: t, clinic: c, tab: tab, says: feverEn, wish: wish{
		Language: "en", Sections: []string{section.Demographics, section.Symptoms, section.RiskFactors, section.Allergies},
	}}
	w.survey = c.survey(w.wish)
	var before int
	var bytes []int
	w.step = func(seen view) {
		sent := tab.Requests()
		if len(w.took) > 0 {
			bytes = append(bytes, w.checkStep(sent[before:]))
		}
		before = len(sent)
	}
	tab.Throttle(slowLatency, slowKilobits)
	tab.Go(c.link(w.survey))
	w.walk()
	if len(w.took) < 5 {
		t.Fatalf("the walk took %d steps", len(w.took))
	}
	slices.Sort(w.took)
	slices.Sort(bytes)
	t.Logf("%d steps of %s, %s at most, with %d bytes, %d at most", len(w.took),
		w.took[len(w.took)/2], w.took[len(w.took)-1], bytes[len(bytes)/2], bytes[len(bytes)-1])
}

// checkStep says what a step may fetch, and returns how many bytes it was.
func (w *walker) checkStep(sent []browser.Request) int {
	w.t.Helper()
	var bytes, posted, followed int
	for _, request := range sent {
		bytes += request.Bytes
		switch {
		case request.Type != "Fetch":
			w.t.Errorf("a step to %s fetches the %s %s", w.tab.URL(), request.Type, request.URL)
		case request.Method == http.MethodPost:
			posted++
		default:
			followed++
		}
	}
	if posted > 2 || followed > posted+1 { // a list is answered in two steps
		w.t.Errorf("a step to %s takes %d answers and %d pages", w.tab.URL(), posted, followed)
	}
	if bytes > mostBytes {
		w.t.Errorf("a step to %s takes %d bytes, want %d at most", w.tab.URL(), bytes, mostBytes)
	}
	return bytes
}
