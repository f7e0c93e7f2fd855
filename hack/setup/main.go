// SPDX-License-Identifier: Apache-2.0

// Command setup provides the external dependencies of tests: a real PostgreSQL server and
// a real browser. As root on Debian, it installs missing packages after asking once; set
// ANAMNESIS_INSTALL to yes or no to answer in advance. The dependency "node" asks for
// permission to install the packages of the local cluster, which installs them itself.
//
//	go run ./hack/setup postgres -- go test ./apiserver/storage/...
//	go run ./hack/setup postgres browser -- go test ./...
//	go run ./hack/setup postgres --listen 10.0.0.1:5432 --dir /var/tmp/pg
package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	var line commandLine
	parser := kong.Must(&line, kong.Name("setup"), kong.Description(
		"Sets up the external dependencies of tests while the command after -- runs, and passes them in its environment. "+
			"Without a command, prints the environment variables; a server then runs until it is interrupted."))
	parser.FatalIfErrorf(line.parse(parser, os.Args[1:]))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := line.run(ctx, os.Stdout)
	stop()
	var child *exec.ExitError
	if errors.As(err, &child) && child.Exited() {
		os.Exit(child.ExitCode()) // the command has already reported the error
	}
	parser.FatalIfErrorf(err)
}

// commandLine holds the parsed command line.
type commandLine struct {
	Dependencies []string       `arg:"" enum:"postgres,browser,node" help:"Dependencies to set up: any of postgres, browser and node."`
	OnlyAsk      bool           `help:"Only ask whether to install missing packages, and pass the answer to the command."`
	Postgres     postgresServer `embed:"" group:"postgres"`
	Command      []string       `kong:"-"`
}

// parse parses the arguments. Arguments after -- belong to the command.
func (l *commandLine) parse(parser *kong.Kong, args []string) error {
	if end := slices.Index(args, "--"); end >= 0 {
		args, l.Command = args[:end], args[end+1:]
	}
	_, err := parser.Parse(args)
	if err == nil && l.OnlyAsk && len(l.Command) == 0 {
		return errors.New("--only-ask requires a command")
	}
	return err
}
