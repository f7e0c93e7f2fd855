// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

// printMetrics prints the metrics of a set: for all cases, then by discipline.
func printMetrics(out io.Writer, part string, outcomes []outcome) error {
	fmt.Fprintf(out, "%s: %d cases, %d atypical, %d emergencies\n", part, len(outcomes),
		countMatching(outcomes, func(o *outcome) bool { return o.Atypical }), countMatching(outcomes, isEmergency))
	for _, m := range metrics {
		p := m.measure(outcomes)
		low, high := p.confidenceInterval()
		fmt.Fprintf(out, "  %-17s %5.1f %%  [%5.1f, %5.1f]  %d/%d\n", m.name, 100*p.value(), 100*low, 100*high, p.hits, p.total)
	}
	fmt.Fprintf(out, "  %-17s %5.1f\n\n", "median questions", medianQuestions(outcomes))
	consultation.PrintCalibration(out, predictions(outcomes))
	return printDisciplines(out, outcomes)
}

// predictions returns the predictions for the top-ranked conditions.
func predictions(outcomes []outcome) []consultation.Prediction {
	var all []consultation.Prediction
	for i := range outcomes {
		if o := &outcomes[i]; len(o.Ranking) > 0 {
			all = append(all, consultation.Prediction{Probability: o.Ranking[0].Probability, Correct: o.rank == 1})
		}
	}
	return all
}

// printDisciplines prints one row per discipline, in percent.
func printDisciplines(out io.Writer, outcomes []outcome) error {
	groups := map[string][]outcome{}
	for _, o := range outcomes {
		groups[o.Discipline] = append(groups[o.Discipline], o)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(table, "  % [95 %]\tn")
	for _, m := range metrics {
		fmt.Fprint(table, "\t", m.column)
	}
	fmt.Fprintln(table, "\tquestions")
	for _, discipline := range slices.Sorted(maps.Keys(groups)) {
		group := groups[discipline]
		fmt.Fprintf(table, "  %s\t%d", discipline, len(group))
		for _, m := range metrics {
			fmt.Fprint(table, "\t", formatCell(m.measure(group)))
		}
		fmt.Fprintf(table, "\t%g\n", medianQuestions(group))
	}
	return table.Flush()
}

func formatCell(p proportion) string {
	low, high := p.confidenceInterval()
	return fmt.Sprintf("%.0f [%.0f, %.0f]", 100*p.value(), 100*low, 100*high)
}

func countMatching(outcomes []outcome, match func(*outcome) bool) int {
	return (&metric{met: match}).measure(outcomes).hits
}

func isEmergency(o *outcome) bool { return o.isEmergency() }

// missedEmergencies returns the emergencies that were triaged below an emergency
// department.
func missedEmergencies(outcomes []outcome) []*outcome {
	var missed []*outcome
	for i := range outcomes {
		if o := &outcomes[i]; o.isEmergency() && o.Level < model.Emergency {
			missed = append(missed, o)
		}
	}
	return missed
}

// printMissedEmergencies lists the emergencies that were triaged below an emergency
// department, optionally with the patient's words.
func printMissedEmergencies(out io.Writer, outcomes []outcome, withWords bool) {
	missed := missedEmergencies(outcomes)
	fmt.Fprintf(out, "\nemergencies triaged below emergency: %d of %d\n", len(missed), countMatching(outcomes, isEmergency))
	for _, o := range missed {
		if !withWords {
			fmt.Fprintf(out, "  %s\n", o.ID)
			continue
		}
		fmt.Fprintf(out, "  %s  %s: %s after %d questions\n      %q\n", o.ID, o.Diagnosis, o.triageLabel(), o.Questions, o.ChiefComplaint)
		if len(o.Present) > 0 {
			fmt.Fprintf(out, "      %s\n", strings.Join(o.Present, "; "))
		}
	}
}

// triageLabel returns the triage level as text.
func (o *outcome) triageLabel() string {
	if !o.understood {
		return "not understood"
	}
	return o.Level.String()
}
