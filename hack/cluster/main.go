// SPDX-License-Identifier: Apache-2.0

// Command cluster runs a real single-node Kubernetes cluster on this machine, built
// from Go modules, in its own namespaces. This package only parses the command line;
// the commands are implemented in the subpackages.
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
	name, arguments, description string
	run                          func(ctx context.Context, cluster lifecycle.Cluster, arguments []string) error
}

var commands = []command{
	{"up", "", "build missing tools, start the cluster, and wait until it is ready", up},
	{"down", "", "stop the cluster and remove everything except the cache", down},
	{"build", "[assets|TOOL...]", "build missing tools only: all tools, those for envtest, or the given ones", buildTools},
	{"packages", "", "list the Debian packages that up would install", packages},
	{"status", "", "show whether the cluster is up, and its relays", status},
	{"env", "", "print KUBECONFIG, KUBEBUILDER_ASSETS and PATH for a shell", env},
	{"image", "-name REF -binary PATH[=/in/image] [-file PATH=/in/image] -out TAR", "create an image archive of static binaries", buildImage},
	{"load", "TAR...", "import image archives", loadImages},
	{"kubectl", "ARGUMENTS...", "run kubectl against this cluster", kubectl},
	{"relay", "-listen ADDRESS -to svc/NAMESPACE/NAME:PORT|pod/NAMESPACE/NAME:PORT|ADDRESS:PORT [-background]", "forward a local port into the cluster", startRelay},
	{"exec", "COMMAND...", "run a command in the node's namespaces", execInNode},
}

// exitStatusError is the exit status of a command that has reported its own error.
type exitStatusError int

func (e exitStatusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	os.Exit(exitCode(err))
}

// exitCode prints the error unless it has already been reported, and returns the exit
// code.
func exitCode(err error) int {
	var status exitStatusError
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
	if inside, ok := internalCommands[arguments[0]]; ok {
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
		fmt.Fprintf(os.Stderr, "\n  %s %s\n      %s\n", command.name, command.arguments, command.description)
	}
	return exitStatusError(2)
}
