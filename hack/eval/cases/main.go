// SPDX-License-Identifier: Apache-2.0

// Command cases measures the quality of the advice. It simulates the patients of our
// own vignettes in process on the embedded content, from the chief complaint to the
// end of the interview, and prints how often the condition and the triage level are
// right. The README in this directory describes the source of the patients and the
// metrics.
package main

import (
	"io"
	"os"

	"github.com/alecthomas/kong"
)

func main() {
	parsed := kong.Parse(&command{}, kong.Name("cases"), kong.Description("Measure diagnosis and triage on the project's own vignettes."),
		kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}
