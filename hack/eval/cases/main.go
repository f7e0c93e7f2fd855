// SPDX-License-Identifier: Apache-2.0

// Command cases measures how good the advice is: it plays the patients of our
// own vignettes in process, on the content that it was built with, from their
// first words to the end of the interview, and prints how often the right
// condition and the right urgency come out. The README beside it says where the
// patients come from and what the figures mean.
package main

import (
	"io"
	"os"

	"github.com/alecthomas/kong"
)

func main() {
	parsed := kong.Parse(&command{}, kong.Name("cases"), kong.Description("Measure how good the advice is, on vignettes of our own."),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}
