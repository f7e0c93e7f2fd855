// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// misses are the patients whose diagnosis did not come first, by the first
// thing that stood in the way.
type misses struct {
	failed    []result // calls were answered with errors
	notHeard  []result // nothing was found in what the patient said first
	notKnown  []result // the diagnosis is not in the catalogue
	notRanked []result // it is there, and came late or not at all; the latest first
}

func sortMisses(results []result) misses {
	var m misses
	for _, r := range results {
		switch {
		case len(r.Errors) > 0:
			m.failed = append(m.failed, r)
		case len(r.Initial) == 0:
			m.notHeard = append(m.notHeard, r)
		case !r.InCatalogue:
			m.notKnown = append(m.notKnown, r)
		case r.rank() > 1:
			m.notRanked = append(m.notRanked, r)
		}
	}
	slices.SortStableFunc(m.notRanked, func(a, b result) int { return cmp.Compare(b.rank(), a.rank()) })
	return m
}

// rank is the place of the diagnosis, one behind all when it has none.
func (r result) rank() int {
	if r.Rank == nil {
		return math.MaxInt
	}
	return *r.Rank
}

// print lists the misses, at most so many of each cause. The function tells
// which words of a patient's complaint were not understood.
func (m misses) print(ctx context.Context, out io.Writer, most int, complaints []string,
	unknownWords func(context.Context, result, string) ([]string, error),
) error {
	printCause(out, "errors", m.failed, most, func(r result) string { return r.Diagnosis + ": " + r.Errors[0] })
	printCause(out, "in the catalogue, and not first", m.notRanked, most, describeRanking)
	fmt.Fprintf(out, "\nno initial evidence: %d\n", len(m.notHeard))
	for _, r := range m.notHeard[:min(most, len(m.notHeard))] {
		if r.Line < 1 || r.Line > len(complaints) {
			return fmt.Errorf("the runner notes a patient of line %d, where there are %d: are these its vignettes?", r.Line, len(complaints))
		}
		complaint := complaints[r.Line-1]
		words, err := unknownWords(ctx, r, complaint)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %3d  %s%s: %q\n       not understood: %s\n", r.Line, r.Diagnosis, unlessKnown(r), complaint, strings.Join(words, " "))
	}
	printCause(out, "not in the catalogue", m.notKnown, most, func(r result) string { return r.Diagnosis })
	return nil
}

func printCause(out io.Writer, cause string, list []result, most int, describe func(result) string) {
	fmt.Fprintf(out, "\n%s: %d\n", cause, len(list))
	for _, r := range list[:min(most, len(list))] {
		fmt.Fprintf(out, "  %3d  %s\n", r.Line, describe(r))
	}
}

func unlessKnown(r result) string {
	if r.InCatalogue {
		return ""
	}
	return " (not in the catalogue)"
}

// describeRanking says where the diagnosis came and what came before it.
func describeRanking(r result) string {
	place := "not ranked"
	if r.Rank != nil {
		place = fmt.Sprintf("ranked %d", *r.Rank)
	}
	described := fmt.Sprintf("%s: %s after %d questions", r.Diagnosis, place, len(r.Asked))
	before := r.Top5[:min(3, len(r.Top5), r.rank()-1)]
	if len(before) == 0 {
		return described
	}
	names := make([]string, len(before))
	for i, condition := range before {
		names[i] = condition.name
	}
	return described + ", behind " + strings.Join(names, ", ")
}
