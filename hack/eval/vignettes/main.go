// SPDX-License-Identifier: Apache-2.0

// Command vignettes measures how well the service does on clinical vignettes:
// it starts the server, has a runner play the patients against it, prints the
// runner's figures, and says what went wrong with whom. The runner and the
// vignettes are kept outside of this repository; they are to learn from what
// misses, never to fit the content to.
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
		kong.Description("Play the patients of vignettes against the server; run from the root of the repository."),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	parsed.FatalIfErrorf(parsed.Run())
}
