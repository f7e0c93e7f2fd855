// SPDX-License-Identifier: Apache-2.0

// Command run implements `make run`: it starts a real cluster on this machine,
// installs the operator, waits for the sample Instance, and requests one diagnosis.
// LISTEN sets the loopback address of the relay to the Instance.
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
	listen := cmp.Or(os.Getenv("LISTEN"), platform.SampleListenAddress)
	return platform.RunDemo(ctx, platform.Platform{Root: ".", Progress: os.Stdout}, listen)
}
