// SPDX-License-Identifier: Apache-2.0

// Command vignettes evaluates the server on clinical vignettes. It starts the server, runs
// an external runner that simulates the patients, prints the runner's metrics, and lists
// misses by cause. The runner and the vignettes are kept outside this repository. Learn from
// the misses, but never fit the content to them.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	parsed := kong.Parse(&command{}, kong.Name("vignettes"),
		kong.Description("Run patient vignettes against the server; run from the root of the repository."),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}
