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

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
)

// A cause is the first reason why the correct condition was not ranked first.
type cause int

const (
	notMissed cause = iota
	notInCatalog
	complaintNotUnderstood
	findingsNotUnderstood
	notAsked
	outranked
)

// causes lists the causes of misses in print order.
var causes = []struct {
	cause cause
	title string
}{
	{notInCatalog, "not in the catalog"},
	{complaintNotUnderstood, "words not understood: no symptom in the chief complaint"},
	{findingsNotUnderstood, "words not understood: a third of the findings or more"},
	{notAsked, "not asked: ranked first given everything the patient knows"},
	{outranked, "asked but outranked"},
}

// cause classifies a miss. Parsing failures take precedence over the numbers in the
// content, because findings that were not recognized cannot distinguish conditions.
func (o *outcome) cause() cause {
	switch {
	case o.rank == 1:
		return notMissed
	case !o.inCatalog:
		return notInCatalog
	case !o.understood:
		return complaintNotUnderstood
	case o.fullEvidenceRank == 1:
		return notAsked
	case 3*len(o.knowledge.notUnderstood) >= 1+len(o.Present)+len(o.History)+len(o.Family):
		return findingsNotUnderstood
	default:
		return outranked
	}
}

// printMisses prints up to limit misses per cause, worst first, then by ID.
func (s *simulator) printMisses(out io.Writer, outcomes []outcome, limit int) {
	missed := map[cause][]*outcome{}
	for i := range outcomes {
		cause := outcomes[i].cause()
		missed[cause] = append(missed[cause], &outcomes[i])
	}
	fmt.Fprintln(out, "\nnot first, by cause")
	for _, row := range causes {
		list := missed[row.cause]
		slices.SortStableFunc(list, func(a, b *outcome) int {
			return cmp.Or(cmp.Compare(b.sortRank(), a.sortRank()), cmp.Compare(a.ID, b.ID))
		})
		fmt.Fprintf(out, "  %s: %d\n", row.title, len(list))
		for _, o := range list[:min(limit, len(list))] {
			s.printMiss(out, o)
		}
	}
}

// sortRank returns the rank; an unranked diagnosis sorts last.
func (o *outcome) sortRank() int {
	if o.rank == 0 {
		return math.MaxInt
	}
	return o.rank
}

func (s *simulator) printMiss(out io.Writer, o *outcome) {
	place := "not ranked"
	if o.rank > 0 {
		place = fmt.Sprintf("ranked %d", o.rank)
	}
	fmt.Fprintf(out, "    %s  %s %v, %d %s %v: %s after %d questions, %s of %v\n      %q\n",
		o.ID, o.Diagnosis, o.ICD10, o.Age.Value, o.Age.Unit, o.Sex, place, o.Questions, o.triageLabel(), o.Triage, o.ChiefComplaint)
	for _, row := range []struct {
		title string
		items []string
	}{
		{"ranked above", s.higherRanked(o)},
		{"reported", s.reportedPresent(o)},
		{"not asked", s.notAsked(o)},
		{"not understood", o.knowledge.notUnderstood},
	} {
		if len(row.items) > 0 {
			fmt.Fprintf(out, "      %-15s %s\n", row.title, strings.Join(row.items, "; "))
		}
	}
}

// higherRanked returns the names of up to three top conditions ranked above the
// diagnosis.
func (s *simulator) higherRanked(o *outcome) []string {
	first := o.Ranking[:min(3, len(o.Ranking), o.sortRank()-1)]
	names := make([]string, len(first))
	for i, ranked := range first {
		names[i] = fmt.Sprintf("%s %.2f", s.Release.Text(s.Release.Conditions[ranked.Condition].Name), ranked.Probability)
	}
	return names
}

// reportedPresent returns the names of the findings that the patient reported as
// present.
func (s *simulator) reportedPresent(o *outcome) []string {
	var names []string
	for _, e := range o.Evidence {
		if observation, ok := s.Release.ObservationByID(e.ID); ok && e.Choice == inference.Present {
			names = append(names, s.Release.Text(s.Release.Observations[observation].Name))
		}
	}
	return names
}

// notAsked returns the names of present findings that the engine did not ask about.
func (s *simulator) notAsked(o *outcome) []string {
	var names []string
	for _, observation := range slices.Sorted(maps.Keys(o.knowledge.answers)) {
		if o.understood && o.knowledge.answers[observation] == inference.Present && !o.HasEvidence(s.Release, observation) {
			names = append(names, s.Release.Text(s.Release.Observations[observation].Name))
		}
	}
	return names
}
