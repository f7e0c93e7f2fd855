// SPDX-License-Identifier: Apache-2.0

//go:build !race

package engine

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/model/modeltest"
	"github.com/google/go-cmp/cmp"
)

// TestEveryComplaintLeadsOn begins an interview with each symptom of the
// content, for both sexes and many ages: there is a condition to name or a
// question to ask.
func TestEveryComplaintLeadsOn(t *testing.T) {
	t.Parallel()
	r, e := real(t), New()
	calls := 0
	from, to := r.ObservationsOfKind(model.Symptom)
	for o := from; o < to; o++ {
		for _, months := range []int{0, 3, 12, 24, 72, 180, 360, 600, 900} {
			for sex := range model.Sex(2) {
				p, err := NewPatient(r, sex, months, []ReportedEvidence{{ID: r.ObservationID(o), Choice: Present, Source: SourceInitial}})
				if err != nil {
					t.Fatal(err)
				}
				if len(p.openers) == 0 {
					continue // it does not apply to the sex or the age
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
// brings: what anybody of that age may have is asked about, and counts as soon
// as it is there.
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
		{"s_1!", "s_3", false, nil}, // the red flag of an emergency that anybody may have
		{"s_1! -s_3", "s_2", false, nil},
		{"s_1! -s_3 -s_2", "", true, nil}, // nothing is left to ask
		{"s_1! -s_3 s_2", "", true, []string{"c_2"}},
	} {
		a := New().Assess(r, woman(t, r, test.words), Options{})
		question := ""
		if a.Question != nil {
			question = r.ObservationID(a.Question.Items[0])
		}
		if question != test.question || a.ShouldStop != test.stop {
			t.Errorf("%q: asks %q, stop %v; want %q, %v", test.words, question, a.ShouldStop, test.question, test.stop)
		}
		if diff := cmp.Diff(test.conditions, ranking(t, r, test.words)); diff != "" {
			t.Errorf("%q: %s", test.words, diff)
		}
	}
	for _, mode := range []Mode{TriageMode, ShortTriage} {
		if New().Assess(r, woman(t, r, "s_1!"), Options{Mode: mode}).Question == nil {
			t.Errorf("mode %d asks nothing", mode)
		}
	}
	if got := suggested(t, r, "s_1!", SuggestRedFlags, 9); got != "" {
		t.Errorf("red flags %q, though none has to do with the evidence", got)
	}
	if level := New().Triage(r, woman(t, r, "s_1!"), Options{}).Level; level != model.Consultation {
		t.Errorf("the level is %v, want a visit to a doctor", level)
	}
}
