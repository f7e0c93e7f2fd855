// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// runWith runs a command with more in its environment. When ctx ends, the
// command is interrupted and has ten seconds to end.
func runWith(ctx context.Context, environment, command []string) error {
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
