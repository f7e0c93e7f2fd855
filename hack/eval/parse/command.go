// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
)

type command struct {
	Part        string `enum:"work,measure,both" default:"both" help:"Which part of the corpus: ${enum}."`
	Language    string `help:"Only this language, as en."`
	Style       string `help:"Only this style, as chat."`
	Worst       int    `default:"0" help:"How many of the worst misses to print, of the part to work on."`
	ShowMeasure bool   `help:"Print misses of the part to measure on too. Nobody who works on the content or the parser should look at them."`
}

// Run prints the figures by part and language.
func (c *command) Run(out io.Writer) error {
	for _, part := range []string{workPart, measurePart} {
		if c.Part != part && c.Part != "both" {
			continue
		}
		sentences, err := readPart(corpusFiles, part)
		if err != nil {
			return err
		}
		if err := c.measure(out, part, choose(sentences, c.Language, c.Style)); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) measure(out io.Writer, part string, sentences []sentence) error {
	for _, language := range values(sentences, func(s sentence) string { return s.language }) {
		outcomes, err := parseAll(language, choose(sentences, language, ""))
		if err != nil {
			return err
		}
		if err := printScores(out, part+" "+language, outcomes); err != nil {
			return fmt.Errorf("printing the figures: %w", err)
		}
		if part == workPart || c.ShowMeasure {
			printMisses(out, worst(outcomes, c.Worst))
		}
		fmt.Fprintln(out)
	}
	return nil
}

// parseAll parses sentences of one language.
func parseAll(language string, sentences []sentence) ([]outcome, error) {
	catalogue, err := openCatalogue(language)
	if err != nil {
		return nil, err
	}
	outcomes := make([]outcome, len(sentences))
	for i, s := range sentences {
		outcomes[i] = judge(s, catalogue.parse(s))
	}
	return outcomes, nil
}

// byStyle yields the outcomes of each style.
func byStyle(outcomes []outcome) iter.Seq2[string, []outcome] {
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

// without returns the mentions that are not among others, within those that
// are.
func without(mentions, others []mention) []mention {
	return slices.DeleteFunc(slices.Clone(mentions), func(m mention) bool { return slices.Contains(others, m) })
}

func within(mentions, others []mention) []mention {
	return slices.DeleteFunc(slices.Clone(mentions), func(m mention) bool { return !slices.Contains(others, m) })
}
