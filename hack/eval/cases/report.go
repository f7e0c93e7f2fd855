// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

// printFigures prints the figures of a part: of all cases, then by discipline.
func printFigures(out io.Writer, part string, outcomes []outcome) error {
	fmt.Fprintf(out, "%s: %d cases, %d atypical, %d emergencies\n", part, len(outcomes),
		count(outcomes, func(o *outcome) bool { return o.Atypical }), count(outcomes, isEmergency))
	for _, f := range figures {
		s := f.of(outcomes)
		low, high := s.interval()
		fmt.Fprintf(out, "  %-17s %5.1f %%  [%5.1f, %5.1f]  %d/%d\n", f.name, 100*s.value(), 100*low, 100*high, s.hits, s.of)
	}
	fmt.Fprintf(out, "  %-17s %5.1f\n\n", "median questions", medianQuestions(outcomes))
	consultation.PrintCalibration(out, claims(outcomes))
	return printDisciplines(out, outcomes)
}

// claims are what the verdicts said of their first conditions.
func claims(outcomes []outcome) []consultation.Claim {
	var all []consultation.Claim
	for i := range outcomes {
		if o := &outcomes[i]; len(o.Ranking) > 0 {
			all = append(all, consultation.Claim{Probability: o.Ranking[0].Probability, Right: o.rank == 1})
		}
	}
	return all
}

// printDisciplines prints one row for each discipline, in percent.
func printDisciplines(out io.Writer, outcomes []outcome) error {
	groups := map[string][]outcome{}
	for _, o := range outcomes {
		groups[o.Discipline] = append(groups[o.Discipline], o)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "  % [95 %]\tn")
	for _, f := range figures {
		fmt.Fprint(table, "\t", f.short)
	}
	fmt.Fprintln(table, "\tquestions")
	for _, discipline := range slices.Sorted(maps.Keys(groups)) {
		group := groups[discipline]
		fmt.Fprintf(table, "  %s\t%d", discipline, len(group))
		for _, f := range figures {
			fmt.Fprint(table, "\t", cell(f.of(group)))
		}
		fmt.Fprintf(table, "\t%g\n", medianQuestions(group))
	}
	return table.Flush()
}

func cell(s share) string {
	low, high := s.interval()
	return fmt.Sprintf("%.0f [%.0f, %.0f]", 100*s.value(), 100*low, 100*high)
}

func count(outcomes []outcome, holds func(*outcome) bool) int {
	return (&figure{holds: holds}).of(outcomes).hits
}

func isEmergency(o *outcome) bool { return o.emergency() }

// missedEmergencies are those for whom less than an emergency department was
// advised.
func missedEmergencies(outcomes []outcome) []*outcome {
	var missed []*outcome
	for i := range outcomes {
		if o := &outcomes[i]; o.emergency() && o.Level < model.Emergency {
			missed = append(missed, o)
		}
	}
	return missed
}

// printMissedEmergencies lists the emergencies that were triaged below one. What
// was said is shown on request.
func printMissedEmergencies(out io.Writer, outcomes []outcome, withWords bool) {
	missed := missedEmergencies(outcomes)
	fmt.Fprintf(out, "\nemergencies triaged below emergency: %d of %d\n", len(missed), count(outcomes, isEmergency))
	for _, o := range missed {
		if !withWords {
			fmt.Fprintf(out, "  %s\n", o.ID)
			continue
		}
		fmt.Fprintf(out, "  %s  %s: %s after %d questions\n      %q\n", o.ID, o.Diagnosis, o.advised(), o.Questions, o.Says)
		if len(o.Present) > 0 {
			fmt.Fprintf(out, "      %s\n", strings.Join(o.Present, "; "))
		}
	}
}

// advised is the level in words.
func (o *outcome) advised() string {
	if !o.heard {
		return "not heard"
	}
	return o.Level.String()
}
