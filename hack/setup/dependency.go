// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// dependency is a dependency that has been set up.
type dependency struct {
	env      []string        // NAME=value, for the command to find it
	location string          // human-readable location
	done     <-chan struct{} // closed on exit; nil if nothing runs
	stop     func() error    // stops it; nil if nothing runs
}

// run sets up the dependencies until the command exits or ctx is done. In both cases
// the servers stop last.
func (l *commandLine) run(ctx context.Context, output io.Writer) (err error) {
	var environment []string
	var running *dependency
	for _, need := range l.Dependencies {
		provided, provideErr := l.setUp(ctx, need)
		if provideErr != nil {
			return provideErr
		}
		if provided.stop != nil {
			running = provided
			defer func() { err = errors.Join(err, provided.stop()) }()
		}
		environment = append(environment, provided.env...)
		if len(l.Command) > 0 {
			continue
		}
		if _, err := fmt.Fprintln(output, provided.location); err != nil {
			return fmt.Errorf("printing the environment of %s: %w", need, err)
		}
	}
	if len(l.Command) > 0 {
		return runCommand(ctx, environment, l.Command)
	}
	running.wait(ctx)
	return nil
}

// setUp sets up one dependency.
func (l *commandLine) setUp(ctx context.Context, need string) (*dependency, error) {
	if need == "browser" {
		return setUpBrowser(ctx)
	}
	return l.Postgres.setUp(ctx)
}

// wait returns when ctx is done or the dependency has exited, or immediately if
// nothing runs.
func (p *dependency) wait(ctx context.Context) {
	if p == nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-p.done:
	}
}
