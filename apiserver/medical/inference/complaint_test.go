// SPDX-License-Identifier: Apache-2.0

//go:build !race

package inference

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/modeltest"
	"github.com/google/go-cmp/cmp"
)

// TestEveryComplaintHasQuestionAndRanking begins an interview with each symptom of the
// content, for both sexes and many ages, and expects a ranked condition or a question.
func TestEveryComplaintHasQuestionAndRanking(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	calls := 0
	from, to := r.ObservationsOfKind(model.Symptom)
	for o := from; o < to; o++ {
		for _, months := range []int{0, 3, 12, 24, 72, 180, 360, 600, 900} {
			for sex := range model.Sex(2) {
				p, err := NewPatient(r, sex, months, []ReportedEvidence{{ID: r.ObservationID(o), Choice: Present, Source: SourceInitial}})
				if err != nil {
					t.Fatal(err)
				}
				if len(p.complaints) == 0 {
					continue // not applicable to the sex or the age
				}
				calls++
				if a := e.Assess(r, p, Options{}); a.Question == nil && len(a.Conditions) == 0 {
					t.Errorf("%s (%s), %v, %d months: no question and no condition; stop %v",
						r.ObservationID(o), r.Text(r.Observations[o].CommonName), sex, months, a.ShouldStop)
				}
			}
		}
	}
	t.Logf("%d calls", calls)
}

// TestUnexplainedComplaint has a symptom that no condition of the patient's age
// causes. The interview asks about what anyone of that age may have, and a present
// finding counts.
func TestUnexplainedComplaint(t *testing.T) {
	t.Parallel()
	r := modeltest.New().
		Condition("c_1", 0.1, func(c *model.DraftCondition) { c.AgeTo = 24 }).
		Condition("c_2", 0.1).Condition("c_3", 0.01, func(c *model.DraftCondition) { c.Triage = model.Emergency }).
		Symptom("s_1", 0.01).Symptom("s_2", 0.05).Symptom("s_3", 0.001, redFlag).
		Link("c_1", "s_1", 0.9).Link("c_2", "s_2", 0.8).Link("c_3", "s_3", 0.5).
		Build(t)
	for _, test := range []struct {
		words, question string
		stop            bool
		conditions      []string
	}{
		{"s_1!", "s_3", false, nil}, // the red flag of an emergency that anyone may have
		{"s_1! -s_3", "s_2", false, nil},
		{"s_1! -s_3 -s_2", "", true, nil}, // nothing left to ask
		{"s_1! -s_3 s_2", "", true, []string{"c_2"}},
	} {
		a := New().Assess(r, newFemalePatient(t, r, test.words), Options{})
		question := ""
		if a.Question != nil {
			question = r.ObservationID(a.Question.Items[0])
		}
		if question != test.question || a.ShouldStop != test.stop {
			t.Errorf("%q: asks %q, stop %v; want %q, %v", test.words, question, a.ShouldStop, test.question, test.stop)
		}
		if diff := cmp.Diff(test.conditions, rankingLines(t, r, test.words)); diff != "" {
			t.Errorf("%q: %s", test.words, diff)
		}
	}
	for _, mode := range []Mode{TriageMode, ShortTriageMode} {
		if New().Assess(r, newFemalePatient(t, r, "s_1!"), Options{Mode: mode}).Question == nil {
			t.Errorf("mode %d: no question", mode)
		}
	}
	if got := formatSuggestions(t, r, "s_1!", SuggestRedFlags, 9); got != "" {
		t.Errorf("red flags %q, although none is related to the evidence", got)
	}
	if level := New().Triage(r, newFemalePatient(t, r, "s_1!"), Options{}).Level; level != model.Consultation {
		t.Errorf("the level is %v, want a visit to a doctor", level)
	}
}
