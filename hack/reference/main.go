// SPDX-License-Identifier: Apache-2.0

// Command reference generates the pages of docs/reference about the command-line flags and
// the metrics of both binaries. It fails if it cannot document a metric. This directory also
// contains the configuration and templates of the generators for custom resources and chart
// values; hack/generate.sh runs all generators.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"
)

type command struct {
	Out string `arg:"" default:"docs/reference" help:"Directory to write the pages to. Run from the root of the repository."`
}

// Run writes the pages.
func (c *command) Run(ctx context.Context) error {
	for _, page := range []struct {
		name   string
		render func(context.Context) (string, error)
	}{
		{"flags.md", renderFlags},
		{"metrics.md", renderMetrics},
	} {
		text, err := page.render(ctx)
		if err != nil {
			return fmt.Errorf("generating %s: %w", page.name, err)
		}
		if err := os.WriteFile(filepath.Join(c.Out, page.name), []byte(text), 0o644); err != nil { //nolint:gosec // documentation is public
			return fmt.Errorf("writing %s: %w", page.name, err)
		}
	}
	return nil
}

func main() {
	parsed := kong.Parse(&command{}, kong.Name("reference"), kong.BindTo(context.Background(), (*context.Context)(nil)),
		kong.Description("Generate the reference pages of flags and metrics."))
	parsed.FatalIfErrorf(parsed.Run())
}
