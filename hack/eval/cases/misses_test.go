// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

func TestCause(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		title string
		spoil func(*outcome)
		want  cause
	}{
		{"first", func(o *outcome) { o.rank = 1 }, notMissed},
		{"lost", func(*outcome) {}, lost},
		{"not ranked", func(o *outcome) { o.rank = 0 }, lost},
		{"not in the catalogue", func(o *outcome) { o.covered, o.heard = false, false }, notInCatalogue},
		{"not heard", func(o *outcome) { o.heard, o.rank = false, 0 }, notHeard},
		{"not asked", func(o *outcome) { o.fullRank = 1; o.known.unheard = o.Present }, notAsked},
		{"a line of four not understood", func(o *outcome) { o.known.unheard = o.Present[:1] }, lost},
		{"two lines of four not understood", func(o *outcome) { o.known.unheard = o.Present[:2] }, notUnderstood},
		{"two lines of seven not understood", func(o *outcome) {
			o.known.unheard, o.History, o.Family = o.Present[:2], []string{"a", "b"}, []string{"c"}
		}, lost},
	} {
		o := somebody("cardiology-w01", 3, model.Emergency)
		o.fullRank = 2
		row.spoil(&o)
		if got := o.cause(); got != row.want {
			t.Errorf("%s: got %d, want %d", row.title, got, row.want)
		}
	}
}

func TestPrintMisses(t *testing.T) {
	t.Parallel()
	c := open(t)
	name := func(id string) string { return c.Release.Text(c.Release.Observations[c.observation(t, id)].Name) }
	condition := func(i int) string { return c.Release.Text(c.Release.Conditions[i].Name) }
	second := somebody("cardiology-w02", 2, model.Consultation)
	second.Ranking = []engine.Ranked{{Condition: 3, Probability: 0.5}, {Condition: 1, Probability: 0.25}}
	last := somebody("cardiology-w03", 0, model.Emergency)
	last.Ranking = []engine.Ranked{{Condition: 0, Probability: 0.5}, {Condition: 2, Probability: 0.125}}
	last.Tell(c.Release, c.observation(t, fever), engine.Present, engine.SourceInitial)
	last.Tell(c.Release, c.observation(t, headache), engine.Absent, engine.SourceNone)
	last.known = knowledge{unheard: []string{"odd thing"}, answers: map[model.ObservationIndex]engine.Choice{
		c.observation(t, fever): engine.Present, c.observation(t, cough): engine.Present, c.observation(t, soreThroat): engine.Absent,
	}}
	late := somebody("cardiology-w01", 7, model.Emergency)
	unknown := somebody("cardiology-w05", 0, model.Emergency)
	unknown.covered = false
	outcomes := []outcome{late, second, last, somebody("cardiology-w04", 1, model.Emergency), unknown}

	const head = " Heart attack [I21 I22.0], 58 year male: "
	worst := `    cardiology-w03 ` + head + `not ranked after 12 questions, emergency of [emergency]
      "My chest hurts."
      before it       ` + condition(0) + ` 0.50; ` + condition(2) + ` 0.12
      told            ` + name(fever) + `
      not asked       ` + name(cough) + `
      not understood  odd thing
`
	others := `    cardiology-w01 ` + head + `ranked 7 after 12 questions, emergency of [emergency]
      "My chest hurts."
    cardiology-w02 ` + head + `ranked 2 after 12 questions, consultation of [emergency]
      "My chest hurts."
      before it       ` + condition(3) + ` 0.50
`
	notKnown := `    cardiology-w05 ` + head + `not ranked after 12 questions, emergency of [emergency]
      "My chest hurts."
`
	for most, lists := range map[int][2]string{0: {"", ""}, 1: {notKnown, worst}, 9: {notKnown, worst + others}} {
		want := `
not first, by cause
  not in the catalogue: 1
` + lists[0] + `  words not understood: no symptom in what was said first: 0
  words not understood: a third of what is there or more: 0
  not asked: first if all that the patient knows is told: 0
  asked but lost: 3
` + lists[1]
		var out strings.Builder
		c.printMisses(&out, outcomes, most)
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("most %d (-want +got)\n%s", most, diff)
		}
	}
}
