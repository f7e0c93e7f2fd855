// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// A dependency is a dependency of tests that has been set up.
type dependency struct {
	env      []string        // NAME=value variables for the command
	location string          // human-readable location
	done     <-chan struct{} // closed on exit; nil if nothing runs
	stop     func() error    // stops the server; nil if nothing runs
}

// run sets up the dependencies, runs the command, and stops the servers after the command
// has exited. Without a command, the servers run until ctx is done.
func (l *commandLine) run(ctx context.Context, output io.Writer) (err error) {
	environment, err := l.askToInstall(ctx)
	if err != nil {
		return err
	}
	if l.OnlyAsk {
		return runCommand(ctx, environment, l.Command)
	}
	var running *dependency
	for _, name := range l.Dependencies {
		dep, setUpErr := l.setUp(ctx, name)
		if setUpErr != nil {
			return setUpErr
		}
		if dep.stop != nil {
			running = dep
			defer func() { err = errors.Join(err, dep.stop()) }()
		}
		environment = append(environment, dep.env...)
		if len(l.Command) > 0 {
			continue
		}
		if _, err := fmt.Fprintln(output, dep.location); err != nil {
			return fmt.Errorf("printing the environment of %s: %w", name, err)
		}
	}
	if len(l.Command) > 0 {
		return runCommand(ctx, environment, l.Command)
	}
	running.wait(ctx)
	return nil
}

// askToInstall asks once whether to install all missing packages, and returns the
// environment that passes the answer to the command. If this process cannot install
// packages, setUp reports missing dependencies.
func (l *commandLine) askToInstall(ctx context.Context) ([]string, error) {
	if !canInstall() {
		return nil, nil
	}
	missing, err := l.missingPackages(ctx)
	if err != nil || len(missing) == 0 {
		return nil, err
	}
	return []string{installEnv + "=yes"}, newConsentPrompt().ask(missing)
}

// setUp sets up one dependency.
func (l *commandLine) setUp(ctx context.Context, name string) (*dependency, error) {
	switch name {
	case "browser":
		return setUpBrowser(ctx)
	case "node":
		return &dependency{location: "the local cluster installs its packages when it starts"}, nil
	default:
		return l.Postgres.setUp(ctx)
	}
}

// wait waits until ctx is done or the dependency has exited. It returns immediately if
// nothing runs.
func (d *dependency) wait(ctx context.Context) {
	if d == nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-d.done:
	}
}
