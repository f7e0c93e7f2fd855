// SPDX-License-Identifier: Apache-2.0

// Command parts runs several make targets in order, as `make test` does: it lists the
// targets first, continues after a failure, and prints a summary with the result and duration
// of each. It fails if any target failed. The targets themselves belong to the Makefile.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "parts:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, targets []string) error {
	if len(targets) == 0 {
		return errors.New("missing target: usage: parts TARGET [TARGET ...]")
	}
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		return fmt.Errorf("reading target descriptions: %w", err)
	}
	parts, err := findParts(string(makefile), targets)
	if err != nil {
		return err
	}
	return runner{output: os.Stdout, now: time.Now, make: runMake}.run(ctx, parts)
}

// runMake runs a make target. When ctx is done, it interrupts make and waits for it, so
// that tests can remove what they started.
func runMake(ctx context.Context, target string) error {
	cmd := exec.CommandContext(ctx, cmp.Or(os.Getenv("MAKE"), "make"), "--no-print-directory", target) //nolint:gosec // make sets MAKE, and the caller names the targets
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * time.Minute
	return cmd.Run()
}
