// SPDX-License-Identifier: Apache-2.0

//go:build !race

package page_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/page/browser"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
)

// A slow connection at the edge of a mobile network.
const (
	slowLatency  = 400 * time.Millisecond // round trip
	slowKilobits = 400                    // per second
)

// maxStepBytes limits the bytes of a step: what such a connection transfers in a third of a
// second.
const maxStepBytes = 16 << 10

// TestSlowNetwork completes a survey on a slow connection. From the second step on, each step
// must consist of one answer and the next page, without further requests. The duration is
// logged, but not checked.
func TestSlowNetwork(t *testing.T) {
	t.Parallel()
	c := newFixture(t)
	tab := browser.Open(t, phone)
	w := &surveyBot{t: t, clinic: c, tab: tab, answers: feverEn, spec: surveySpec{
		Language: "en", Sections: []string{section.Demographics, section.Symptoms, section.RiskFactors, section.Allergies},
	}}
	w.survey = c.createSurvey(w.spec)
	var before int
	var bytes []int
	w.onStep = func(seen botView) {
		sent := tab.Requests()
		if len(w.stepTimes) > 0 {
			bytes = append(bytes, w.checkRequests(sent[before:]))
		}
		before = len(sent)
	}
	tab.ThrottleNetwork(slowLatency, slowKilobits)
	tab.Go(c.magicLink(w.survey))
	w.completeSurvey()
	if len(w.stepTimes) < 5 {
		t.Fatalf("survey took %d steps", len(w.stepTimes))
	}
	slices.Sort(w.stepTimes)
	slices.Sort(bytes)
	t.Logf("%d steps of %s, %s at most, with %d bytes, %d at most", len(w.stepTimes),
		w.stepTimes[len(w.stepTimes)/2], w.stepTimes[len(w.stepTimes)-1], bytes[len(bytes)/2], bytes[len(bytes)-1])
}

// checkRequests checks what a step fetched and returns the number of bytes.
func (b *surveyBot) checkRequests(sent []browser.Request) int {
	b.t.Helper()
	var bytes, posted, followed int
	for _, request := range sent {
		bytes += request.Bytes
		switch {
		case request.Type != "Fetch":
			b.t.Errorf("step to %s fetched %s %s", b.tab.URL(), request.Type, request.URL)
		case request.Method == http.MethodPost:
			posted++
		default:
			followed++
		}
	}
	if posted > 2 || followed > posted+1 { // a list is answered in two steps
		b.t.Errorf("step to %s took %d answers and %d pages", b.tab.URL(), posted, followed)
	}
	if bytes > maxStepBytes {
		b.t.Errorf("step to %s took %d bytes, want at most %d", b.tab.URL(), bytes, maxStepBytes)
	}
	return bytes
}
