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

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

// An outcome is the result of one simulated patient.
type outcome struct {
	condition    model.ConditionIndex
	rank         int // rank of the condition, or 0 if it is not ranked
	first        inference.RankedCondition
	questions    int
	undertriaged bool // triaged below the level of the condition
	emergency    bool // the condition is an emergency
}

// interviewAll interviews patients concurrently and returns the outcomes in their
// order.
func interviewAll(interviewer *consultation.Interviewer, patients []patient) ([]outcome, error) {
	outcomes := make([]outcome, len(patients))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range patients {
		group.Go(func() (err error) {
			outcomes[i], err = interview(interviewer, &patients[i])
			return err
		})
	}
	return outcomes, group.Wait()
}

func interview(interviewer *consultation.Interviewer, p *patient) (outcome, error) {
	transcript, err := interviewer.Interview(&consultation.Patient{Sex: p.sex, AgeMonths: p.ageMonths, Opening: p.opening, Answer: p.answer})
	if err != nil {
		return outcome{}, fmt.Errorf("interviewing a patient with %s: %w", interviewer.Release.ConditionID(p.condition), err)
	}
	level := interviewer.Release.Conditions[p.condition].Triage
	o := outcome{condition: p.condition, questions: transcript.Questions, undertriaged: transcript.Level < level, emergency: level >= model.Emergency}
	o.rank = 1 + slices.IndexFunc(transcript.Ranking, func(r inference.RankedCondition) bool { return r.Condition == p.condition })
	if len(transcript.Ranking) > 0 {
		o.first = transcript.Ranking[0]
	}
	return o, nil
}

// proportion returns the fraction of outcomes for which match returns true, or 0 if there
// are no outcomes.
func proportion(outcomes []outcome, match func(outcome) bool) float64 {
	count := 0
	for _, o := range outcomes {
		if match(o) {
			count++
		}
	}
	return float64(count) / math.Max(1, float64(len(outcomes)))
}

func isRankedWithin(limit int) func(outcome) bool {
	return func(o outcome) bool { return 0 < o.rank && o.rank <= limit }
}

func isUndertriaged(o outcome) bool { return o.undertriaged }

func printMetrics(out io.Writer, title string, outcomes []outcome) {
	emergencies := slices.DeleteFunc(slices.Clone(outcomes), func(o outcome) bool { return !o.emergency })
	questions := 0
	for _, o := range outcomes {
		questions += o.questions
	}
	fmt.Fprintf(out, "%s: %d\n  first %.1f %%, first three %.1f %%, first five %.1f %%, under-triaged %.1f %%, emergencies under-triaged %.1f %% of %d, %.1f questions\n\n",
		title, len(outcomes), 100*proportion(outcomes, isRankedWithin(1)), 100*proportion(outcomes, isRankedWithin(3)), 100*proportion(outcomes, isRankedWithin(5)),
		100*proportion(outcomes, isUndertriaged), 100*proportion(emergencies, isUndertriaged), len(emergencies), float64(questions)/math.Max(1, float64(len(outcomes))))
}

// predictions returns the predictions for the top-ranked conditions.
func predictions(outcomes []outcome) []consultation.Prediction {
	all := make([]consultation.Prediction, len(outcomes))
	for i, o := range outcomes {
		all[i] = consultation.Prediction{Probability: o.first.Probability, Correct: o.rank == 1}
	}
	return all
}

// A conditionResult is the result for all patients of one condition.
type conditionResult struct {
	condition                     model.ConditionIndex
	undertriageRate, topThreeRate float64
}

// printWorst prints the conditions that are most often under-triaged and the conditions
// that are least often ranked among the first three.
func printWorst(out io.Writer, r *model.Release, outcomes []outcome, worst int) error {
	groups := map[model.ConditionIndex][]outcome{}
	for _, o := range outcomes {
		groups[o.condition] = append(groups[o.condition], o)
	}
	results := make([]conditionResult, 0, len(groups))
	for condition, group := range groups {
		results = append(results, conditionResult{condition, proportion(group, isUndertriaged), proportion(group, isRankedWithin(3))})
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	list := func(title string, compare func(a, b conditionResult) int, include func(conditionResult) bool) {
		slices.SortFunc(results, func(a, b conditionResult) int { return cmp.Or(compare(a, b), cmp.Compare(a.condition, b.condition)) })
		fmt.Fprintf(table, "%s\tbelow level\tfirst three\n", title)
		for _, result := range results[:min(worst, len(results))] {
			if include(result) {
				fmt.Fprintf(table, "  %s\t%.0f %%\t%.0f %%\n", r.Text(r.Conditions[result.condition].Name), 100*result.undertriageRate, 100*result.topThreeRate)
			}
		}
	}
	list("undertriaged", func(a, b conditionResult) int { return cmp.Compare(b.undertriageRate, a.undertriageRate) }, func(r conditionResult) bool { return r.undertriageRate > 0 })
	list("ranked too low", func(a, b conditionResult) int { return cmp.Compare(a.topThreeRate, b.topThreeRate) }, func(r conditionResult) bool { return r.topThreeRate < 1 })
	return table.Flush()
}
