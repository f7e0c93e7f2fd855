// SPDX-License-Identifier: Apache-2.0

// Command run is `make run`: a real cluster on this machine, the operator in
// it, the sample Instance ready, and one diagnosis answered.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/anamnesis-dev/anamnesis/hack/platform"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := platform.Demonstrate(ctx, platform.Platform{Root: ".", Progress: os.Stdout}); err != nil {
		fmt.Fprintln(os.Stderr, "make run:", err)
		os.Exit(1)
	}
}
