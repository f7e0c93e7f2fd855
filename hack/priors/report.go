// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// maxFoldDifference is the maximum factor between a prior and the survey without a
// DeviationReason.
const maxFoldDifference = 3

// printReport prints the distribution of the deviations and one row per comparison.
func printReport(out io.Writer, all []comparison, worst int, withBands bool) error {
	within := func(factor float64) (count int) {
		for _, c := range all {
			if c.rate.foldDifference() <= factor {
				count++
			}
		}
		return count
	}
	fmt.Fprintf(out, "%d conditions, episodes per 10,000 new episodes: %d within a factor of 1.5, %d within 2, %d within %d\n\n",
		len(all), within(1.5), within(2), within(maxFoldDifference), maxFoldDifference)
	rows := all
	if worst > 0 && worst < len(all) {
		rows = all[:worst]
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "survey\tcontent\tratio\twomen, survey\tcontent\tvisits\tper episode\t\t")
	for _, c := range rows {
		fmt.Fprintf(table, "%.1f\t%.1f\t%.2f\t%.0f %%\t%.0f %%\t%d\t%g\t\t  %s%s\n",
			c.rate.observed, c.rate.expected, c.rate.ratio(), 100*c.women.observed, 100*c.women.expected, c.visits, c.VisitsPerEpisode, c.Condition, formatReason(c.DeviationReason))
		if withBands && len(c.bands) > 1 {
			for _, b := range c.bands {
				fmt.Fprintf(table, "%.1f\t%.1f\t%.2f\t\t\t%d\t\t\t    %s\n", b.rate.observed, b.rate.expected, b.rate.ratio(), b.visits, b.name)
			}
		}
	}
	return table.Flush()
}

func formatReason(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}
