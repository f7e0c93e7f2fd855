// SPDX-License-Identifier: Apache-2.0

//go:build !race

package survey_test

import (
	"slices"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/guidancetest"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
)

// BenchmarkYesToEverything reports what the slowest step takes, and the last one, of a
// patient who comes with a stiff neck and says yes to whatever the interview asks: an
// answer, and what is shown of the survey then. No content brings more findings.
func BenchmarkYesToEverything(b *testing.B) {
	w := real(b, "en")
	var slowest, last time.Duration
	for b.Loop() {
		slowest = 0
		p := create(b, w, survey.Creation{Patient: woman(), Type: "triage", Sections: []string{section.Symptoms, section.Dynamic}})
		for p.Survey.Status != guidance.Completed {
			start := time.Now()
			p = answer(b, p, w, yesTo(&p.Steps[len(p.Steps)-1].Question))
			if _, err := survey.See(p, w); err != nil {
				b.Fatal(err)
			}
			last = time.Since(start)
			slowest = max(slowest, last)
		}
		b.Logf("%d questions, %d findings", len(p.Steps), survey.Findings(p, w))
	}
	b.ReportMetric(slowest.Seconds()*1e3, "slowest-ms")
	b.ReportMetric(last.Seconds()*1e3, "last-ms")
}

// yesTo says yes to all that a question asks, to the first of what excludes each other.
func yesTo(q *guidance.Question) string {
	if q.ID == section.Symptoms {
		return `[{"id":"s_418"}]`
	}
	asked := guidancetest.OptionIDs(q.Meta.Options)
	if q.Meta.Component == guidance.GroupSingle {
		asked = asked[:1]
	}
	return guidancetest.ItemsOf(asked, slices.Repeat([]string{guidance.Present}, len(asked)))
}
