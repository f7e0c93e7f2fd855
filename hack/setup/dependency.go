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
	environment, err := l.askToInstall(ctx)
	if err != nil {
		return err
	}
	if l.OnlyAsk {
		return runCommand(ctx, environment, l.Command)
	}
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

// askToInstall asks once whether to install all missing packages, and returns the
// environment that passes the answer on. If this process cannot install packages, setting
// up the dependencies reports what is missing.
func (l *commandLine) askToInstall(ctx context.Context) ([]string, error) {
	if !canInstall() {
		return nil, nil
	}
	missing, err := l.missingPackages(ctx)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	return []string{installEnv + "=yes"}, askUser().ask(missing)
}

// setUp sets up one dependency.
func (l *commandLine) setUp(ctx context.Context, need string) (*dependency, error) {
	switch need {
	case "browser":
		return setUpBrowser(ctx)
	case "node":
		return &dependency{location: "the local cluster installs its packages when it starts"}, nil
	default:
		return l.Postgres.setUp(ctx)
	}
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
