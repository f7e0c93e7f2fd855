// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// runCommand runs a command with additional environment variables. When ctx is done,
// it interrupts the command and gives it ten seconds to exit.
func runCommand(ctx context.Context, environment, command []string) error {
	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.Env = append(os.Environ(), environment...)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	child.WaitDelay = 10 * time.Second
	if err := child.Run(); err != nil {
		return fmt.Errorf("%s: %w", command[0], err)
	}
	return nil
}
