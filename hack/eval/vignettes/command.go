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
	Vignettes string `default:"../shared/eval/dev.jsonl" placeholder:"FILE" help:"The vignettes, one JSON object per line; by default ${default}."`
	Runner    string `default:"../shared/eval/evaluate.py" placeholder:"PATH" help:"What plays them; by default ${default}."`
	Worst     int    `default:"10" help:"How many misses of each cause to print."`
}

// Run plays the vignettes and prints figures and misses.
func (c *command) Run(ctx context.Context, out io.Writer) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	server, err := devserver.Start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	results, err := c.play(ctx, server.URL, out)
	if err != nil {
		return err
	}
	complaints, err := readComplaints(c.Vignettes)
	if err != nil {
		return err
	}
	misses := sortMisses(results)
	parser, err := dial(server.URL)
	if err != nil {
		return err
	}
	return misses.print(ctx, out, c.Worst, complaints, parser.unknownWords)
}

// check says what is not there and where it comes from.
func (c *command) check() error {
	for flag, path := range map[string]string{"runner": c.Runner, "vignettes": c.Vignettes} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("finding the %s: %w: they are kept outside of this repository; "+
				"ask a maintainer for the folder shared/eval and put it beside the repository, or name others with --runner and --vignettes", flag, err)
		}
	}
	return nil
}

// play runs the runner against a server, prints its figures, and reads what it
// noted of each patient.
func (c *command) play(ctx context.Context, url string, out io.Writer) (results []result, err error) {
	directory, err := os.MkdirTemp("", "vignettes-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	notes := filepath.Join(directory, "results.jsonl")
	runner := exec.CommandContext(ctx, "python3", c.Runner, "--url", url, "--app-id", devserver.AppID, "--app-key", devserver.AppKey,
		"--vignettes", c.Vignettes, "--out", notes)
	runner.Stderr = os.Stderr
	figures, err := runner.Output()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w\n%s", c.Runner, err, figures)
	}
	for line := range strings.Lines(string(figures)) {
		if !strings.HasPrefix(line, "{") { // the same once more, for programs
			fmt.Fprint(out, line)
		}
	}
	return readResults(notes)
}
