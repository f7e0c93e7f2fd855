// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

type command struct {
	Part        string `enum:"work,measure,both" default:"both" help:"Set to run: ${enum}."`
	Language    string `help:"Run only this language, such as en."`
	Style       string `help:"Run only this style, such as chat."`
	Worst       int    `default:"0" help:"Number of worst misses to print, from the development set."`
	ShowMeasure bool   `help:"Also print misses of the held-out set. Do not use this flag if you work on the content or the parser."`
}

// Run prints the scores by set and language.
func (c *command) Run(out io.Writer) error {
	for _, part := range []string{dataset.Development, dataset.Holdout} {
		if c.Part != part && c.Part != "both" {
			continue
		}
		sentences, err := readSet(corpusFiles, part)
		if err != nil {
			return err
		}
		if err := c.runSet(out, part, filterSentences(sentences, c.Language, c.Style)); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) runSet(out io.Writer, part string, sentences []sentence) error {
	for _, language := range distinctValues(sentences, func(s sentence) string { return s.language }) {
		outcomes, err := parseAll(language, filterSentences(sentences, language, ""))
		if err != nil {
			return err
		}
		if err := printScores(out, part+" "+language, outcomes); err != nil {
			return fmt.Errorf("printing the metrics: %w", err)
		}
		if part == dataset.Development || c.ShowMeasure {
			printMisses(out, worst(outcomes, c.Worst))
		}
		fmt.Fprintln(out)
	}
	return nil
}

// parseAll parses sentences of one language.
func parseAll(language string, sentences []sentence) ([]outcome, error) {
	catalog, err := openCatalog(language)
	if err != nil {
		return nil, err
	}
	outcomes := make([]outcome, len(sentences))
	for i, s := range sentences {
		outcomes[i] = evaluate(s, catalog.parse(s))
	}
	return outcomes, nil
}

// groupByStyle yields the outcomes of each style.
func groupByStyle(outcomes []outcome) iter.Seq2[string, []outcome] {
	return func(yield func(string, []outcome) bool) {
		groups := map[string][]outcome{}
		for _, o := range outcomes {
			groups[o.Style] = append(groups[o.Style], o)
		}
		for _, style := range slices.Sorted(maps.Keys(groups)) {
			if !yield(style, groups[style]) {
				return
			}
		}
	}
}

// difference returns the mentions in a that are not in b.
func difference(a, b []mention) []mention {
	return slices.DeleteFunc(slices.Clone(a), func(m mention) bool { return slices.Contains(b, m) })
}

func intersection(a, b []mention) []mention {
	return slices.DeleteFunc(slices.Clone(a), func(m mention) bool { return !slices.Contains(b, m) })
}
