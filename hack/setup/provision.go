// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// provision is a thing that is set up.
type provision struct {
	environment []string        // by which a command finds it, as NAME=value
	place       string          // where it is, for a person
	done        <-chan struct{} // closed once it has ended; nil of what does not run
	stop        func() error    // ends it; nil of what does not run
}

// run sets up what is needed until the command ends, or until ctx does. In
// either case the servers end last.
func (l *commandLine) run(ctx context.Context, output io.Writer) (err error) {
	var environment []string
	var running *provision
	for _, need := range l.Needs {
		provided, provideErr := l.provide(ctx, need)
		if provideErr != nil {
			return provideErr
		}
		if provided.stop != nil {
			running = provided
			defer func() { err = errors.Join(err, provided.stop()) }()
		}
		environment = append(environment, provided.environment...)
		if len(l.Command) > 0 {
			continue
		}
		if _, err := fmt.Fprintln(output, provided.place); err != nil {
			return fmt.Errorf("say where %s is: %w", need, err)
		}
	}
	if len(l.Command) > 0 {
		return runWith(ctx, environment, l.Command)
	}
	running.wait(ctx)
	return nil
}

// provide sets up one thing.
func (l *commandLine) provide(ctx context.Context, need string) (*provision, error) {
	if need == "browser" {
		return provideBrowser(ctx)
	}
	return l.Postgres.provide(ctx)
}

// wait returns when ctx ends or the thing has; at once when nothing runs.
func (p *provision) wait(ctx context.Context) {
	if p == nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-p.done:
	}
}
