// SPDX-License-Identifier: Apache-2.0

//go:build !race

package flow_test

import (
	"slices"
	"testing"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/section"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/surveytest"
)

// BenchmarkAllPresent measures the slowest and the last step, including the resulting view,
// for a patient with a stiff neck and every symptom that the interview asks about. No other
// complaint in the content produces more findings.
func BenchmarkAllPresent(b *testing.B) {
	env := newContentEnv(b, "en")
	var slowest, last time.Duration
	for b.Loop() {
		slowest = 0
		p := mustCreate(b, env, flow.CreateOptions{Patient: newWoman(), Type: "triage", Sections: []string{section.Symptoms, section.Dynamic}})
		for p.Survey.Status != record.StatusCompleted {
			start := time.Now()
			p = mustAnswer(b, p, env, allPresentAnswer(&p.Steps[len(p.Steps)-1].Question))
			if _, err := flow.NewView(p, env); err != nil {
				b.Fatal(err)
			}
			last = time.Since(start)
			slowest = max(slowest, last)
		}
		b.Logf("%d questions, %d findings", len(p.Steps), flow.CountFindings(p, env))
	}
	b.ReportMetric(slowest.Seconds()*1e3, "slowest-ms")
	b.ReportMetric(last.Seconds()*1e3, "last-ms")
}

// allPresentAnswer returns an answer that marks everything as present, or the first of
// mutually exclusive options.
func allPresentAnswer(q *record.Question) string {
	if q.ID == section.Symptoms {
		return `[{"id":"s_418"}]`
	}
	asked := surveytest.OptionIDs(q.Meta.Options)
	if q.Meta.Component == record.ComponentGroupSingle {
		asked = asked[:1]
	}
	return surveytest.ItemsJSON(asked, slices.Repeat([]string{record.ChoicePresent}, len(asked)))
}
