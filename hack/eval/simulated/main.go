// SPDX-License-Identifier: Apache-2.0

// Command simulated measures how good the advice is on patients drawn from the
// content itself, whose findings hang together more than the engine assumes, and
// who answer wrongly now and then. It finds conditions that are never reached,
// emergencies that are sent home, and a ranking that is surer than it should be.
// How far the content is from real patients it cannot say; the vignettes of
// hack/eval/cases can.
//
//	go run ./hack/eval/simulated [--each 10] [--population 2000] [--worst 30]
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

func main() {
	parsed := kong.Parse(&command{}, kong.Name("simulated"),
		kong.Description("Measure how good the advice is, on patients drawn from the content."),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}

type command struct {
	Each        int     `default:"4" help:"How many patients of each condition."`
	Population  int     `default:"2000" help:"How many patients as often as they come, for the calibration."`
	Correlation float64 `default:"0.3" help:"How much the findings of a patient hang together, 0 to 1."`
	Wrong       float64 `default:"0.05" help:"The share of wrong answers."`
	Seed        uint64  `default:"1" help:"Another seed draws other patients."`
	Worst       int     `default:"15" help:"How many of the worst conditions to print."`
}

// Run draws patients, asks them and prints how they fared.
func (c *command) Run(out io.Writer) error {
	room, err := consultation.Open()
	if err != nil {
		return err
	}
	d := newDrawer(room.Release, c.Correlation, c.Wrong, c.Seed)
	each, err := askAll(room, d.each(c.Each))
	if err != nil {
		return err
	}
	population, err := askAll(room, d.population(c.Population))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "correlation %g, %g %% of the answers wrong\n\n", c.Correlation, 100*c.Wrong)
	printFigures(out, fmt.Sprintf("%d patients of each condition", c.Each), each)
	printFigures(out, "patients as often as they come", population)
	consultation.PrintCalibration(out, claims(population))
	return printWorst(out, room.Release, each, c.Worst)
}
