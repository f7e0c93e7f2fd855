// SPDX-License-Identifier: Apache-2.0

// Command cluster runs a real single-node Kubernetes on this machine, built
// from Go modules, in namespaces of its own. It only reads the command line;
// what a command does is in the packages beside it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/lifecycle"
)

type command struct {
	name, arguments, what string
	run                   func(ctx context.Context, cluster lifecycle.Cluster, arguments []string) error
}

var commands = []command{
	{"up", "", "build what is missing, start the cluster, wait until it is ready", up},
	{"down", "", "end the cluster and remove everything of it but the cache", down},
	{"build", "[assets|TOOL...]", "only build what is missing: of all tools, those for envtest, or those named", buildTools},
	{"status", "", "say whether the cluster is up, and what is relayed", status},
	{"env", "", "print KUBECONFIG, KUBEBUILDER_ASSETS and PATH for a shell", env},
	{"image", "-name REF -binary PATH[=/in/image] [-file PATH=/in/image] -out TAR", "make an image archive of static binaries", makeImage},
	{"load", "TAR...", "import image archives", load},
	{"kubectl", "ARGUMENTS...", "call kubectl for this cluster", kubectl},
	{"relay", "-listen ADDRESS -to svc/NAMESPACE/NAME:PORT|pod/NAMESPACE/NAME:PORT|ADDRESS:PORT [-background]", "lead a port of this machine into the cluster", relayTo},
	{"exec", "COMMAND...", "run a command within the node's namespaces", execute},
}

// exitStatus is that of a command whose own words are enough.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	os.Exit(exitCode(err))
}

// exitCode says what went wrong, unless that has been said already.
func exitCode(err error) int {
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintln(os.Stderr, "cluster:", err)
	return 1
}

func run(ctx context.Context, arguments []string) error {
	if len(arguments) == 0 {
		return usage()
	}
	if inside, ok := insideCommands[arguments[0]]; ok {
		return inside(ctx, arguments[1:])
	}
	cluster, err := lifecycle.New(os.Stdout)
	if err != nil {
		return err
	}
	for _, command := range commands {
		if command.name == arguments[0] {
			return command.run(ctx, cluster, arguments[1:])
		}
	}
	return usage()
}

func usage() error {
	fmt.Fprintln(os.Stderr, "usage: cluster COMMAND")
	for _, command := range commands {
		fmt.Fprintf(os.Stderr, "\n  %s %s\n      %s\n", command.name, command.arguments, command.what)
	}
	return exitStatus(2)
}
