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

// misses holds the patients whose diagnosis was not ranked first, by the first cause that
// applies.
type misses struct {
	failed                 []result // requests returned errors
	complaintNotUnderstood []result // nothing was recognized in the complaint
	notInCatalog           []result // the catalog lacks the diagnosis
	notRankedFirst         []result // ranked late or not at all; worst first
}

func classifyMisses(results []result) misses {
	var m misses
	for _, r := range results {
		switch {
		case len(r.Errors) > 0:
			m.failed = append(m.failed, r)
		case len(r.Initial) == 0:
			m.complaintNotUnderstood = append(m.complaintNotUnderstood, r)
		case !r.InCatalog:
			m.notInCatalog = append(m.notInCatalog, r)
		case r.rank() > 1:
			m.notRankedFirst = append(m.notRankedFirst, r)
		}
	}
	slices.SortStableFunc(m.notRankedFirst, func(a, b result) int { return cmp.Compare(b.rank(), a.rank()) })
	return m
}

// rank returns the rank of the diagnosis, or one past the last if it is not ranked.
func (r result) rank() int {
	if r.Rank == nil {
		return math.MaxInt
	}
	return *r.Rank
}

// print prints up to limit misses of each cause. unknownWords returns the words of a
// complaint that the parser did not recognize.
func (m misses) print(ctx context.Context, out io.Writer, limit int, complaints []string,
	unknownWords func(context.Context, result, string) ([]string, error),
) error {
	printCause(out, "errors", m.failed, limit, func(r result) string { return r.Diagnosis + ": " + r.Errors[0] })
	printCause(out, "in the catalog but not first", m.notRankedFirst, limit, describeRanking)
	fmt.Fprintf(out, "\nno initial evidence: %d\n", len(m.complaintNotUnderstood))
	for _, r := range m.complaintNotUnderstood[:min(limit, len(m.complaintNotUnderstood))] {
		if r.Line < 1 || r.Line > len(complaints) {
			return fmt.Errorf("invalid line %d in the results: expected 1 to %d: check --vignettes", r.Line, len(complaints))
		}
		complaint := complaints[r.Line-1]
		words, err := unknownWords(ctx, r, complaint)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "  %3d  %s%s: %q\n       not understood: %s\n", r.Line, r.Diagnosis, catalogNote(r), complaint, strings.Join(words, " "))
	}
	printCause(out, "not in the catalog", m.notInCatalog, limit, func(r result) string { return r.Diagnosis })
	return nil
}

func printCause(out io.Writer, cause string, list []result, limit int, describe func(result) string) {
	fmt.Fprintf(out, "\n%s: %d\n", cause, len(list))
	for _, r := range list[:min(limit, len(list))] {
		fmt.Fprintf(out, "  %3d  %s\n", r.Line, describe(r))
	}
}

func catalogNote(r result) string {
	if r.InCatalog {
		return ""
	}
	return " (not in the catalog)"
}

// describeRanking describes the rank of the diagnosis and the conditions above it.
func describeRanking(r result) string {
	place := "not ranked"
	if r.Rank != nil {
		place = fmt.Sprintf("ranked %d", *r.Rank)
	}
	described := fmt.Sprintf("%s: %s after %d questions", r.Diagnosis, place, len(r.Asked))
	higher := r.Top5[:min(3, len(r.Top5), r.rank()-1)]
	if len(higher) == 0 {
		return described
	}
	names := make([]string, len(higher))
	for i, condition := range higher {
		names[i] = condition.name
	}
	return described + ", behind " + strings.Join(names, ", ")
}
