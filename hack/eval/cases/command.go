// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
)

type command struct {
	Part       string `enum:"work,measure,both" default:"both" help:"Which part of the cases: ${enum}."`
	Discipline string `help:"Only this discipline, as cardiology."`
	Worst      int    `default:"0" help:"How many of the worst misses of each cause to print, of the part to work on."`
	Freeze     bool   `help:"Print the hash of each file of the part to measure on, as sums.txt has them, and play nothing."`
}

// Run prints the figures of each part.
func (c *command) Run(out io.Writer) error {
	if c.Freeze {
		return freeze(out, caseFiles)
	}
	clinic, err := openClinic()
	if err != nil {
		return err
	}
	for _, part := range []string{workPart, measurePart} {
		if c.Part != part && c.Part != "both" {
			continue
		}
		if err := c.measure(out, clinic, part); err != nil {
			return err
		}
	}
	return nil
}

// measure plays a part. Whoever works on the content reads what it prints, so
// that of the part to measure on it names no more than the ids of emergencies.
func (c *command) measure(out io.Writer, clinic *clinic, part string) error {
	cases, err := readPart(caseFiles, part)
	if err != nil {
		return err
	}
	cases = slices.DeleteFunc(cases, func(v vignette) bool { return v.Discipline != cmp.Or(c.Discipline, v.Discipline) })
	outcomes, err := clinic.playAll(cases)
	if err != nil {
		return err
	}
	if err := printFigures(out, part, outcomes); err != nil {
		return fmt.Errorf("printing the figures: %w", err)
	}
	printMissedEmergencies(out, outcomes, part == workPart)
	if part == workPart {
		clinic.printMisses(out, outcomes, c.Worst)
	}
	fmt.Fprintln(out)
	return nil
}
