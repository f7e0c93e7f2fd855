// SPDX-License-Identifier: Apache-2.0

// Command priors holds the priors of office conditions against a survey of
// office visits and shows how far each is off. Emergencies are not held against
// it: office visits hardly see them.
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
		kong.Description("Hold the priors of office conditions against a survey of visits."),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}

type command struct {
	Worst int  `help:"Show only so many, those that are off most."`
	Bands bool `help:"Show the age bands too."`
}

// Run prints the comparison.
func (c *command) Run(out io.Writer) error {
	comparisons, err := compareAll()
	if err != nil {
		return err
	}
	return show(out, comparisons, c.Worst, c.Bands)
}
