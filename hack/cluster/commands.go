// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/anamnesis-dev/anamnesis/hack/cluster/build"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/image"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/lifecycle"
	"github.com/anamnesis-dev/anamnesis/hack/cluster/relay"
)

func up(ctx context.Context, cluster lifecycle.Cluster, _ []string) error {
	if err := cluster.Up(ctx); err != nil {
		return err
	}
	fmt.Printf("the cluster is up: export KUBECONFIG=%s\n", shellQuote(cluster.Node.State.Kubeconfig()))
	return nil
}

func down(ctx context.Context, cluster lifecycle.Cluster, _ []string) error {
	return cluster.Down(ctx)
}

func buildTools(ctx context.Context, cluster lifecycle.Cluster, names []string) error {
	if len(names) == 1 && names[0] == "assets" {
		names = build.EnvtestTools
	}
	known := build.Tools()
	for _, name := range names {
		if !slices.ContainsFunc(known, func(tool build.Tool) bool { return tool.Name == name }) {
			return fmt.Errorf("unknown tool %q", name)
		}
	}
	_, err := cluster.Build(ctx, names...)
	return err
}

func packages(_ context.Context, cluster lifecycle.Cluster, _ []string) error {
	for _, name := range cluster.MissingPackages() {
		fmt.Println(name)
	}
	return nil
}

func status(ctx context.Context, cluster lifecycle.Cluster, _ []string) error {
	if err := cluster.CheckReady(ctx); err != nil {
		return err
	}
	relays, err := cluster.Node.Relays()
	if err != nil {
		return err
	}
	fmt.Printf("the cluster is up: export KUBECONFIG=%s\n", shellQuote(cluster.Node.State.Kubeconfig()))
	for _, relay := range relays {
		fmt.Printf("%s forwards to %s\n", relay.ListenAddress, relay.Target)
	}
	return nil
}

func env(_ context.Context, cluster lifecycle.Cluster, _ []string) error {
	assets, err := cluster.AssetsDir()
	if err != nil {
		return err
	}
	fmt.Printf("export KUBECONFIG=%s\n", shellQuote(cluster.Node.State.Kubeconfig()))
	fmt.Printf("export KUBEBUILDER_ASSETS=%s\n", shellQuote(assets))
	fmt.Printf("export PATH=%s:\"$PATH\"\n", shellQuote(assets))
	return nil
}

// shellQuote quotes a text as a single shell word.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func buildImage(_ context.Context, _ lifecycle.Cluster, arguments []string) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	name := flags.String("name", "", "the image's `reference`, such as example.org/server:dev")
	out := flags.String("out", "", "the `archive` to write")
	var files []image.File
	collect := func(executable bool) func(string) error {
		return func(text string) error {
			file, err := image.ParseFile(text, executable)
			files = append(files, file)
			return err
		}
	}
	flags.Func("binary", "a static binary, as `path[=/in/image]`; the first is the entry point", collect(true))
	flags.Func("file", "another file, as `path[=/in/image]`", collect(false))
	if err := parseFlags(flags, arguments); err != nil {
		return err
	}
	if *name == "" || *out == "" {
		return errors.New("image: flags -name, -binary and -out are required")
	}
	return image.Write(*name, files, *out)
}

func loadImages(ctx context.Context, cluster lifecycle.Cluster, archives []string) error {
	if len(archives) == 0 {
		return errors.New("load: expected at least one image archive, as created by `image`")
	}
	return cluster.Load(ctx, archives)
}

// kubectl replaces the process with kubectl, so that signals and the exit status are
// kubectl's.
func kubectl(_ context.Context, cluster lifecycle.Cluster, arguments []string) error {
	assets, err := cluster.AssetsDir()
	if err != nil {
		return err
	}
	path := assets + "/kubectl"
	environment := append(os.Environ(), "KUBECONFIG="+cluster.Node.State.Kubeconfig())
	if err := unix.Exec(path, append([]string{"kubectl"}, arguments...), environment); err != nil {
		return fmt.Errorf("running %s: %w (build it with `build`)", path, err)
	}
	return nil
}

func startRelay(ctx context.Context, cluster lifecycle.Cluster, arguments []string) error {
	flags := flag.NewFlagSet("relay", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "`address` on this machine; port 0 selects a free port")
	to := flags.String("to", "", "`target`: svc/NAMESPACE/NAME:PORT, pod/NAMESPACE/NAME:PORT or ADDRESS:PORT")
	background := flags.Bool("background", false, "return at once; the relay lives until the cluster is down")
	if err := parseFlags(flags, arguments); err != nil {
		return err
	}
	if _, err := relay.ParseTarget(*to); err != nil {
		return err
	}
	if !*background {
		if err := cluster.CheckHasNode(); err != nil {
			return fmt.Errorf("running a relay in the foreground: %w", err)
		}
		return cluster.Node.Relay(ctx, *listen, *to, func(address string) { fmt.Println(address) })
	}
	address, err := cluster.StartRelay(ctx, *listen, *to)
	if err != nil {
		return err
	}
	fmt.Println(address)
	return nil
}

// execInNode runs the command and waits for it. The command is terminated together with
// this process.
func execInNode(ctx context.Context, cluster lifecycle.Cluster, arguments []string) error {
	if len(arguments) > 0 && arguments[0] == "--" {
		arguments = arguments[1:]
	}
	if len(arguments) == 0 {
		return errors.New("exec: expected a command")
	}
	if err := cluster.CheckHasNode(); err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	cmd := cluster.Node.Command(ctx, arguments[0], arguments[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cluster.Node.Run(cmd)
	if ended := new(exec.ExitError); errors.As(err, &ended) {
		return exitStatusError(max(1, ended.ExitCode()))
	}
	return err
}

// parseFlags leaves error reporting to the flag set.
func parseFlags(flags *flag.FlagSet, arguments []string) error {
	err := flags.Parse(arguments)
	switch {
	case err != nil:
		return exitStatusError(2)
	case flags.NArg() > 0:
		return fmt.Errorf("%s: unexpected arguments %q", flags.Name(), flags.Args())
	}
	return nil
}
