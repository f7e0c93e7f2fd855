// SPDX-License-Identifier: Apache-2.0

// Command simulated measures the quality of recommendations on patients sampled from the
// content itself. Their findings are more correlated than the engine assumes, and some of
// their answers are wrong. The command finds conditions that never rank first, emergencies
// that are sent home, and overconfident rankings. It cannot measure how well the content
// matches real patients; use the vignettes of hack/eval/cases for that purpose.
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
		kong.Description("Measure diagnosis and triage on patients sampled from the content."),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}

type command struct {
	Each        int     `default:"4" help:"Number of patients per condition."`
	Population  int     `default:"2000" help:"Number of patients sampled by prevalence, for the calibration."`
	Correlation float64 `default:"0.3" help:"Correlation between the findings of a patient, 0 to 1."`
	Wrong       float64 `default:"0.05" help:"Share of wrong answers, 0 to 1."`
	Seed        uint64  `default:"1" help:"Seed of the random patients."`
	Worst       int     `default:"15" help:"Number of worst conditions to print."`
}

// Run draws patients, interviews them and prints the results.
func (c *command) Run(out io.Writer) error {
	interviewer, err := consultation.NewInterviewer()
	if err != nil {
		return err
	}
	s := newSampler(interviewer.Release, c.Correlation, c.Wrong, c.Seed)
	each, err := interviewAll(interviewer, s.samplePerCondition(c.Each))
	if err != nil {
		return err
	}
	population, err := interviewAll(interviewer, s.samplePopulation(c.Population))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "correlation %g, %g %% wrong answers\n\n", c.Correlation, 100*c.Wrong)
	printMetrics(out, fmt.Sprintf("%d patients per condition", c.Each), each)
	printMetrics(out, "patients sampled by prevalence", population)
	consultation.PrintCalibration(out, predictions(population))
	return printWorst(out, interviewer.Release, each, c.Worst)
}
