// SPDX-License-Identifier: Apache-2.0

// Command cases measures the quality of recommendations. It simulates the patients of the
// project's own vignettes in process with the embedded content, from the chief complaint to
// the end of the interview, and prints how often the condition and the triage level are
// correct. The README in this directory describes the cases and the metrics.
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
