// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// A part is a make target and its description in the Makefile.
type part struct{ target, description string }

var targetPattern = regexp.MustCompile(`(?m)^([a-z0-9-]+):.*## (.*)$`)

// findParts returns the targets with their descriptions. Every target must be documented
// in the Makefile.
func findParts(makefile string, targets []string) ([]part, error) {
	descriptions := map[string]string{}
	for _, match := range targetPattern.FindAllStringSubmatch(makefile, -1) {
		descriptions[match[1]] = match[2]
	}
	parts := make([]part, 0, len(targets))
	for _, target := range targets {
		description, ok := descriptions[target]
		if !ok {
			return nil, fmt.Errorf("target %q not found among the documented targets of the Makefile", target)
		}
		parts = append(parts, part{target, description})
	}
	return parts, nil
}

// A runner runs parts and reports their results.
type runner struct {
	output io.Writer
	now    func() time.Time
	make   func(ctx context.Context, target string) error
}

// run runs the parts in order. It continues after a failure, but not after ctx is done. It
// returns an error unless every part passed.
func (r runner) run(ctx context.Context, parts []part) error {
	fmt.Fprintln(r.output, "Parts:")
	for _, part := range parts {
		fmt.Fprintf(r.output, "  %-18s %s\n", part.target, part.description)
	}
	var summary strings.Builder
	var failed []string
	for _, part := range parts {
		result, passed := r.runPart(ctx, part)
		fmt.Fprintf(&summary, "  %-18s %s\n", part.target, result)
		if !passed {
			failed = append(failed, part.target)
		}
	}
	fmt.Fprintf(r.output, "\nSummary:\n%s", summary.String())
	if len(failed) > 0 {
		return fmt.Errorf("failed or not run: %s; rerun with: make %[1]s", strings.Join(failed, " "))
	}
	return nil
}

// runPart runs one part and returns its result for the summary.
func (r runner) runPart(ctx context.Context, part part) (result string, passed bool) {
	if ctx.Err() != nil {
		return "not run", false
	}
	fmt.Fprintf(r.output, "\n=== %s\n", part.target)
	start := r.now()
	err := r.make(ctx, part.target)
	took := r.now().Sub(start).Round(time.Second)
	result = fmt.Sprintf("passed  %8s", took)
	if err != nil {
		result = fmt.Sprintf("FAILED  %8s", took)
	}
	fmt.Fprintf(r.output, "=== %s %s\n", part.target, result)
	return result, err == nil
}
