// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/anamnesis-dev/anamnesis/hack/devserver"
)

type command struct {
	Vignettes string `default:"../shared/eval/dev.jsonl" placeholder:"FILE" help:"Vignettes, one JSON object per line. Defaults to ${default}."`
	Runner    string `default:"../shared/eval/evaluate.py" placeholder:"PATH" help:"Script that runs the vignettes. Defaults to ${default}."`
	Worst     int    `default:"10" help:"Number of misses to print per cause."`
}

// Run simulates the vignettes and prints metrics and misses.
func (c *command) Run(ctx context.Context, out io.Writer) (err error) {
	if err := c.validatePaths(); err != nil {
		return err
	}
	server, err := devserver.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	results, err := c.runVignettes(ctx, server.URL, out)
	if err != nil {
		return err
	}
	complaints, err := readComplaints(c.Vignettes)
	if err != nil {
		return err
	}
	misses := classifyMisses(results)
	parser, err := newParseClient(server.URL)
	if err != nil {
		return err
	}
	return misses.print(ctx, out, c.Worst, complaints, parser.unknownWords)
}

// validatePaths returns an error if the runner or the vignettes are missing.
func (c *command) validatePaths() error {
	for flag, path := range map[string]string{"runner": c.Runner, "vignettes": c.Vignettes} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("--%s: %w; the evaluation data is not part of this repository: "+
				"ask a maintainer for shared/eval and place it next to the repository, or set --runner and --vignettes", flag, err)
		}
	}
	return nil
}

// runVignettes executes the runner against a server, prints its metrics, and returns its
// results by patient.
func (c *command) runVignettes(ctx context.Context, url string, out io.Writer) (results []result, err error) {
	directory, err := os.MkdirTemp("", "vignettes-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	resultsPath := filepath.Join(directory, "results.jsonl")
	runner := exec.CommandContext(ctx, "python3", c.Runner, "--url", url, "--app-id", devserver.AppID, "--app-key", devserver.AppKey,
		"--vignettes", c.Vignettes, "--out", resultsPath)
	runner.Stderr = os.Stderr
	output, err := runner.Output()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w\n%s", c.Runner, err, output)
	}
	for line := range strings.Lines(string(output)) {
		if !strings.HasPrefix(line, "{") { // the same metrics as JSON
			fmt.Fprint(out, line)
		}
	}
	return readResults(resultsPath)
}
