// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

func TestCause(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		title  string
		change func(*outcome)
		want   cause
	}{
		{"first", func(o *outcome) { o.rank = 1 }, notMissed},
		{"ranked third", func(*outcome) {}, outranked},
		{"not ranked", func(o *outcome) { o.rank = 0 }, outranked},
		{"not in the catalog", func(o *outcome) { o.inCatalog, o.understood = false, false }, notInCatalog},
		{"not understood", func(o *outcome) { o.understood, o.rank = false, 0 }, complaintNotUnderstood},
		{"not asked", func(o *outcome) { o.fullEvidenceRank = 1; o.knowledge.notUnderstood = o.Present }, notAsked},
		{"a line of four not understood", func(o *outcome) { o.knowledge.notUnderstood = o.Present[:1] }, outranked},
		{"two lines of four not understood", func(o *outcome) { o.knowledge.notUnderstood = o.Present[:2] }, findingsNotUnderstood},
		{"two lines of seven not understood", func(o *outcome) {
			o.knowledge.notUnderstood, o.History, o.Family = o.Present[:2], []string{"a", "b"}, []string{"c"}
		}, outranked},
	} {
		o := newOutcome("cardiology-w01", 3, model.Emergency)
		o.fullEvidenceRank = 2
		row.change(&o)
		if got := o.cause(); got != row.want {
			t.Errorf("%s: got %d, want %d", row.title, got, row.want)
		}
	}
}

func TestPrintMisses(t *testing.T) {
	t.Parallel()
	c := testSimulator(t)
	name := func(id string) string { return c.Release.Text(c.Release.Observations[c.observation(t, id)].Name) }
	condition := func(i int) string { return c.Release.Text(c.Release.Conditions[i].Name) }
	second := newOutcome("cardiology-w02", 2, model.Consultation)
	second.Ranking = []inference.RankedCondition{{Condition: 3, Probability: 0.5}, {Condition: 1, Probability: 0.25}}
	last := newOutcome("cardiology-w03", 0, model.Emergency)
	last.Ranking = []inference.RankedCondition{{Condition: 0, Probability: 0.5}, {Condition: 2, Probability: 0.125}}
	last.AddEvidence(c.Release, c.observation(t, fever), inference.Present, inference.SourceInitial)
	last.AddEvidence(c.Release, c.observation(t, headache), inference.Absent, inference.SourceUnspecified)
	last.knowledge = knowledge{notUnderstood: []string{"odd thing"}, answers: map[model.ObservationIndex]inference.Choice{
		c.observation(t, fever): inference.Present, c.observation(t, cough): inference.Present, c.observation(t, soreThroat): inference.Absent,
	}}
	late := newOutcome("cardiology-w01", 7, model.Emergency)
	unknown := newOutcome("cardiology-w05", 0, model.Emergency)
	unknown.inCatalog = false
	outcomes := []outcome{late, second, last, newOutcome("cardiology-w04", 1, model.Emergency), unknown}

	const head = " Heart attack [I21 I22.0], 58 year male: "
	worst := `    cardiology-w03 ` + head + `not ranked after 12 questions, emergency of [emergency]
      "My chest hurts."
      ranked above    ` + condition(0) + ` 0.50; ` + condition(2) + ` 0.12
      reported        ` + name(fever) + `
      not asked       ` + name(cough) + `
      not understood  odd thing
`
	others := `    cardiology-w01 ` + head + `ranked 7 after 12 questions, emergency of [emergency]
      "My chest hurts."
    cardiology-w02 ` + head + `ranked 2 after 12 questions, consultation of [emergency]
      "My chest hurts."
      ranked above    ` + condition(3) + ` 0.50
`
	notKnown := `    cardiology-w05 ` + head + `not ranked after 12 questions, emergency of [emergency]
      "My chest hurts."
`
	for limit, lists := range map[int][2]string{0: {"", ""}, 1: {notKnown, worst}, 9: {notKnown, worst + others}} {
		want := `
not first, by cause
  not in the catalog: 1
` + lists[0] + `  words not understood: no symptom in the chief complaint: 0
  words not understood: a third of the findings or more: 0
  not asked: ranked first given everything the patient knows: 0
  asked but outranked: 3
` + lists[1]
		var out strings.Builder
		c.printMisses(&out, outcomes, limit)
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("limit %d (-want +got)\n%s", limit, diff)
		}
	}
}
