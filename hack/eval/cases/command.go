// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

type command struct {
	Part       string `enum:"work,measure,both" default:"both" help:"Set to run: ${enum}."`
	Discipline string `help:"Run only this discipline, such as cardiology."`
	Worst      int    `default:"0" help:"Number of worst misses to print per cause, from the development set."`
	Freeze     bool   `help:"Print the hash of each file in the held-out set in the format of sums.txt and exit."`
}

// Run prints the metrics of each set.
func (c *command) Run(out io.Writer) error {
	if c.Freeze {
		return printChecksums(out, caseFiles)
	}
	sim, err := newSimulator()
	if err != nil {
		return err
	}
	for _, part := range []string{dataset.Development, dataset.Holdout} {
		if c.Part != part && c.Part != "both" {
			continue
		}
		if err := c.runSet(out, sim, part); err != nil {
			return err
		}
	}
	return nil
}

// runSet simulates a set and prints the results. Because content authors read the output,
// it reveals only the IDs of emergencies in the held-out set.
func (c *command) runSet(out io.Writer, sim *simulator, part string) error {
	cases, err := readSet(caseFiles, part)
	if err != nil {
		return err
	}
	cases = slices.DeleteFunc(cases, func(v vignette) bool { return v.Discipline != cmp.Or(c.Discipline, v.Discipline) })
	outcomes, err := sim.simulateAll(cases)
	if err != nil {
		return err
	}
	if err := printMetrics(out, part, outcomes); err != nil {
		return fmt.Errorf("printing the metrics: %w", err)
	}
	printMissedEmergencies(out, outcomes, part == dataset.Development)
	if part == dataset.Development {
		sim.printMisses(out, outcomes, c.Worst)
	}
	fmt.Fprintln(out)
	return nil
}
