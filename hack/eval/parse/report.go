// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// printScores prints the total score of the outcomes and the scores by style.
func printScores(out io.Writer, title string, outcomes []outcome) error {
	fmt.Fprintf(out, "%s: %d sentences, %d exact\n", title, len(outcomes), sumScores(outcomes).exact)
	table := tabwriter.NewWriter(out, 0, 0, 1, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\tn\t  mentions P\tR\tF1\tright/wrong/missing\t  concepts P\tR\tF1\tright/wrong/missing\t  negation P\tR\tF1\tright/wrong/missing\t  choices P\tR\tF1\tright/wrong/missing\t")
	printRow(table, "all", sumScores(outcomes))
	for style, group := range groupByStyle(outcomes) {
		printRow(table, style, sumScores(group))
	}
	return table.Flush()
}

func printRow(out io.Writer, name string, s score) {
	fmt.Fprintf(out, "%s\t%d\t%s\t%s\t%s\t%s\t\n", name, s.sentences, formatCounts(s.mentions), formatCounts(s.concepts), formatCounts(s.negation), formatCounts(s.choices))
}

func formatCounts(c matchCounts) string {
	return fmt.Sprintf("%.3f\t%.3f\t%.3f\t%d/%d/%d", c.precision(), c.recall(), c.f1(), c.truePositives, c.falsePositives, c.falseNegatives)
}

// printMisses prints each outcome with missing, wrong and correct mentions.
func printMisses(out io.Writer, misses []outcome) {
	for _, o := range misses {
		fmt.Fprintf(out, "\n%s %s %d %s %s\n  %s\n", o.ID, o.Style, o.Age.Value, o.Age.Unit, o.Sex, o.Text)
		if len(o.Context) > 0 {
			fmt.Fprintf(out, "  context   %s\n", strings.Join(o.Context, " "))
		}
		fmt.Fprintf(out, "  missing   %s\n  wrong     %s\n  right     %s\n",
			formatMentions(difference(o.Mentions, o.found)), formatMentions(difference(o.found, o.Mentions)), formatMentions(intersection(o.found, o.Mentions)))
	}
}

// formatMentions formats mentions as one line, with a minus sign before absent ones.
func formatMentions(mentions []mention) string {
	words := make([]string, len(mentions))
	for i, m := range mentions {
		words[i] = m.Concept
		if m.Choice == absent {
			words[i] = "-" + m.Concept
		}
	}
	return strings.Join(words, " ")
}
