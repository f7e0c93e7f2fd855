// SPDX-License-Identifier: Apache-2.0

// Command parse measures the accuracy of free-text parsing. It parses the sentences of a
// corpus in process with the embedded content, and prints precision, recall and F1 of
// mentions, concepts and negation. The README in this directory describes the corpus and
// the metrics.
package main

import (
	"io"
	"os"

	"github.com/alecthomas/kong"
)

func main() {
	parsed := kong.Parse(&command{}, kong.Name("parse"), kong.Description("Measure the accuracy of free-text parsing."),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}
