// SPDX-License-Identifier: Apache-2.0

// Command parse measures how well free text is understood: it parses the
// sentences of a corpus in process, on the content that it was built with, and
// prints precision, recall and F1 of mentions, of concepts and of negation. The
// README beside it says where the sentences come from and what the figures mean.
package main

import (
	"io"
	"os"

	"github.com/alecthomas/kong"
)

func main() {
	parsed := kong.Parse(&command{}, kong.Name("parse"), kong.Description("Measure how well free text is understood."),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}
