// SPDX-License-Identifier: Apache-2.0

// Command setup sets up what tests need and Go does not bring: a real
// PostgreSQL, a real browser. It installs what is missing when this is Debian
// and root.
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
		"Sets up what tests need and Go does not bring, for the time of the command after --, which finds it by its environment. "+
			"Without a command, says where things are; a server then runs until it is interrupted."))
	parser.FatalIfErrorf(line.parse(parser, os.Args[1:]))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := line.run(ctx, os.Stdout)
	stop()
	var child *exec.ExitError
	if errors.As(err, &child) && child.Exited() {
		os.Exit(child.ExitCode()) // it has said why
	}
	parser.FatalIfErrorf(err)
}

// commandLine is what setup was told.
type commandLine struct {
	Needs    []string       `arg:"" enum:"postgres,browser" help:"What to set up: postgres, browser, or both."`
	Postgres postgresServer `embed:"" group:"postgres"`
	Command  []string       `kong:"-"`
}

// parse reads the arguments. What comes after -- is the command's alone.
func (l *commandLine) parse(parser *kong.Kong, args []string) error {
	if end := slices.Index(args, "--"); end >= 0 {
		args, l.Command = args[:end], args[end+1:]
	}
	_, err := parser.Parse(args)
	return err
}
