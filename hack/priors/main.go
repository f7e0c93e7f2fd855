// SPDX-License-Identifier: Apache-2.0

// Command priors compares the priors of office conditions with a survey of office
// visits and prints the deviation of each. It excludes emergencies, because they are
// rare in office visits.
//
//	go run ./hack/priors [--worst 20] [--bands]
package main

import (
	"io"
	"os"

	"github.com/alecthomas/kong"
)

func main() {
	parsed := kong.Parse(&command{}, kong.Name("priors"),
		kong.Description("Compare the priors of office conditions with a survey of visits."),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}

type command struct {
	Worst int  `help:"Number of conditions to show, largest deviations first. Defaults to all."`
	Bands bool `help:"Also show the age bands."`
}

// Run prints the comparison.
func (c *command) Run(out io.Writer) error {
	comparisons, err := compareAll()
	if err != nil {
		return err
	}
	return printReport(out, comparisons, c.Worst, c.Bands)
}
