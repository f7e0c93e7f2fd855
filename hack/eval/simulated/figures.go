// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

// An outcome is what became of a patient.
type outcome struct {
	condition model.ConditionIndex
	rank      int // of the condition, 0 where it is not in the ranking
	first     engine.Ranked
	questions int
	under     bool // triaged below the level of the condition
	emergency bool // the condition is one
}

// askAll asks patients side by side. The outcomes are in their order.
func askAll(room *consultation.Room, patients []patient) ([]outcome, error) {
	outcomes := make([]outcome, len(patients))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range patients {
		group.Go(func() (err error) {
			outcomes[i], err = ask(room, &patients[i])
			return err
		})
	}
	return outcomes, group.Wait()
}

func ask(room *consultation.Room, p *patient) (outcome, error) {
	record, err := room.Ask(&consultation.Patient{Sex: p.sex, AgeMonths: p.ageMonths, Opening: p.opening, Choice: p.choice})
	if err != nil {
		return outcome{}, fmt.Errorf("asking a patient with %s: %w", room.Release.ConditionID(p.condition), err)
	}
	level := room.Release.Conditions[p.condition].Triage
	o := outcome{condition: p.condition, questions: record.Questions, under: record.Level < level, emergency: level >= model.Emergency}
	o.rank = 1 + slices.IndexFunc(record.Ranking, func(r engine.Ranked) bool { return r.Condition == p.condition })
	if len(record.Ranking) > 0 {
		o.first = record.Ranking[0]
	}
	return o, nil
}

// shareOf is the share of outcomes for which something holds, 0 of none.
func shareOf(outcomes []outcome, holds func(outcome) bool) float64 {
	count := 0
	for _, o := range outcomes {
		if holds(o) {
			count++
		}
	}
	return float64(count) / math.Max(1, float64(len(outcomes)))
}

func within(most int) func(outcome) bool {
	return func(o outcome) bool { return 0 < o.rank && o.rank <= most }
}

func isUnder(o outcome) bool { return o.under }

func printFigures(out io.Writer, title string, outcomes []outcome) {
	emergencies := slices.DeleteFunc(slices.Clone(outcomes), func(o outcome) bool { return !o.emergency })
	questions := 0
	for _, o := range outcomes {
		questions += o.questions
	}
	fmt.Fprintf(out, "%s: %d\n  first %.1f %%, first three %.1f %%, first five %.1f %%, below their level %.1f %%, emergencies below theirs %.1f %% of %d, %.1f questions\n\n",
		title, len(outcomes), 100*shareOf(outcomes, within(1)), 100*shareOf(outcomes, within(3)), 100*shareOf(outcomes, within(5)),
		100*shareOf(outcomes, isUnder), 100*shareOf(emergencies, isUnder), len(emergencies), float64(questions)/math.Max(1, float64(len(outcomes))))
}

// claims are what the verdicts said of their first conditions.
func claims(outcomes []outcome) []consultation.Claim {
	all := make([]consultation.Claim, len(outcomes))
	for i, o := range outcomes {
		all[i] = consultation.Claim{Probability: o.first.Probability, Right: o.rank == 1}
	}
	return all
}

// A fate is how the patients of a condition fared.
type fate struct {
	condition    model.ConditionIndex
	under, three float64
}

// printWorst prints the emergencies that are triaged too low most often, and the
// conditions that are found most seldom.
func printWorst(out io.Writer, r *model.Release, outcomes []outcome, worst int) error {
	groups := map[model.ConditionIndex][]outcome{}
	for _, o := range outcomes {
		groups[o.condition] = append(groups[o.condition], o)
	}
	fates := make([]fate, 0, len(groups))
	for condition, group := range groups {
		fates = append(fates, fate{condition, shareOf(group, isUnder), shareOf(group, within(3))})
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	list := func(title string, compare func(a, b fate) int, shown func(fate) bool) {
		slices.SortFunc(fates, func(a, b fate) int { return cmp.Or(compare(a, b), cmp.Compare(a.condition, b.condition)) })
		fmt.Fprintf(table, "%s\tbelow level\tfirst three\n", title)
		for _, f := range fates[:min(worst, len(fates))] {
			if shown(f) {
				fmt.Fprintf(table, "  %s\t%.0f %%\t%.0f %%\n", r.Text(r.Conditions[f.condition].Name), 100*f.under, 100*f.three)
			}
		}
	}
	list("triaged too low", func(a, b fate) int { return cmp.Compare(b.under, a.under) }, func(f fate) bool { return f.under > 0 })
	list("found too seldom", func(a, b fate) int { return cmp.Compare(a.three, b.three) }, func(f fate) bool { return f.three < 1 })
	return table.Flush()
}
