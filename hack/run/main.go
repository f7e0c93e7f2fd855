// SPDX-License-Identifier: Apache-2.0

// Command run is `make run`: a real cluster on this machine, the operator in
// it, the sample Instance ready, and one diagnosis answered. LISTEN names the
// loopback address to which the Instance is relayed.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/anamnesis-dev/anamnesis/hack/platform"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "make run:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listen := cmp.Or(os.Getenv("LISTEN"), platform.SampleListen)
	return platform.Demonstrate(ctx, platform.Platform{Root: ".", Progress: os.Stdout}, listen)
}
