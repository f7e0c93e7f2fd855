// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
)

// A cause is the first thing that stood between a patient and the right
// condition in the first place.
type cause int

const (
	notMissed cause = iota
	notInCatalogue
	notHeard
	notUnderstood
	notAsked
	lost
)

// causes are those of misses, in the order to print.
var causes = []struct {
	cause cause
	title string
}{
	{notInCatalogue, "not in the catalogue"},
	{notHeard, "words not understood: no symptom in what was said first"},
	{notUnderstood, "words not understood: a third of what is there or more"},
	{notAsked, "not asked: first if all that the patient knows is told"},
	{lost, "asked but lost"},
}

// cause sorts a miss. What was not understood weighs before the figures of the
// content, as these cannot tell conditions apart by what they never hear.
func (o *outcome) cause() cause {
	switch {
	case o.rank == 1:
		return notMissed
	case !o.covered:
		return notInCatalogue
	case !o.heard:
		return notHeard
	case o.fullRank == 1:
		return notAsked
	case 3*len(o.known.unheard) >= 1+len(o.Present)+len(o.History)+len(o.Family):
		return notUnderstood
	default:
		return lost
	}
}

// printMisses prints the misses by cause, the worst first and then by id, at
// most so many of each.
func (c *clinic) printMisses(out io.Writer, outcomes []outcome, most int) {
	missed := map[cause][]*outcome{}
	for i := range outcomes {
		cause := outcomes[i].cause()
		missed[cause] = append(missed[cause], &outcomes[i])
	}
	fmt.Fprintln(out, "\nnot first, by cause")
	for _, row := range causes {
		list := missed[row.cause]
		slices.SortStableFunc(list, func(a, b *outcome) int {
			return cmp.Or(cmp.Compare(b.place(), a.place()), cmp.Compare(a.ID, b.ID))
		})
		fmt.Fprintf(out, "  %s: %d\n", row.title, len(list))
		for _, o := range list[:min(most, len(list))] {
			c.printMiss(out, o)
		}
	}
}

// place is the rank, behind all others when there is none.
func (o *outcome) place() int {
	if o.rank == 0 {
		return math.MaxInt
	}
	return o.rank
}

func (c *clinic) printMiss(out io.Writer, o *outcome) {
	place := "not ranked"
	if o.rank > 0 {
		place = fmt.Sprintf("ranked %d", o.rank)
	}
	fmt.Fprintf(out, "    %s  %s %v, %d %s %v: %s after %d questions, %s of %v\n      %q\n",
		o.ID, o.Diagnosis, o.ICD10, o.Age.Value, o.Age.Unit, o.Sex, place, o.Questions, o.advised(), o.Triage, o.Says)
	for _, row := range []struct {
		title string
		items []string
	}{
		{"before it", c.before(o)},
		{"told", c.told(o)},
		{"not asked", c.notAsked(o)},
		{"not understood", o.known.unheard},
	} {
		if len(row.items) > 0 {
			fmt.Fprintf(out, "      %-15s %s\n", row.title, strings.Join(row.items, "; "))
		}
	}
}

// before names the first conditions that came before the diagnosis.
func (c *clinic) before(o *outcome) []string {
	first := o.Ranking[:min(3, len(o.Ranking), o.place()-1)]
	names := make([]string, len(first))
	for i, ranked := range first {
		names[i] = fmt.Sprintf("%s %.2f", c.Release.Text(c.Release.Conditions[ranked.Condition].Name), ranked.Probability)
	}
	return names
}

// told names what the patient said is there.
func (c *clinic) told(o *outcome) []string {
	var names []string
	for _, e := range o.Evidence {
		if observation, ok := c.Release.ObservationByID(e.ID); ok && e.Choice == engine.Present {
			names = append(names, c.Release.Text(c.Release.Observations[observation].Name))
		}
	}
	return names
}

// notAsked names what is there and was never asked.
func (c *clinic) notAsked(o *outcome) []string {
	var names []string
	for _, observation := range slices.Sorted(maps.Keys(o.known.answers)) {
		if o.heard && o.known.answers[observation] == engine.Present && !o.Has(c.Release, observation) {
			names = append(names, c.Release.Text(c.Release.Observations[observation].Name))
		}
	}
	return names
}
