// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
)

// postgresCommand runs a server: for the time of a command, which finds its
// URL in ANAMNESIS_TEST_POSTGRES, or in the foreground.
type postgresCommand struct {
	Listen  string   `default:"127.0.0.1:0" help:"Where the server listens; port 0 is any free one (${default})."`
	Dir     string   `placeholder:"DIR" help:"Where data, password and log are kept, and taken up again. Left out: a new directory that is removed afterwards."`
	Command []string `arg:"" optional:"" help:"What to run while the server does, after --. Left out: the URL is printed once the server answers, and it runs until it is interrupted."`
}

// Run implements the command.
func (c *postgresCommand) Run(ctx context.Context) error {
	if err := ensureInstalled(ctx); err != nil {
		return err
	}
	return c.run(ctx, os.Stdout)
}

// run runs the server until the command ends, or until ctx does. In either
// case the server ends last.
func (c *postgresCommand) run(ctx context.Context, output io.Writer) (err error) {
	server, err := postgrestest.Start(context.WithoutCancel(ctx), postgrestest.Options{Listen: c.Listen, Dir: c.Dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if len(c.Command) > 0 {
		return runWith(ctx, server.URL(), c.Command)
	}
	if _, err := fmt.Fprintln(output, server.URL()); err != nil {
		return fmt.Errorf("say where the server is: %w", err)
	}
	select {
	case <-ctx.Done():
	case <-server.Done():
	}
	return nil
}

// runWith runs a command that finds the server's URL in its environment. When
// ctx ends, the command is interrupted and has ten seconds to end.
func runWith(ctx context.Context, url string, command []string) error {
	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.Env = append(os.Environ(), postgrestest.Variable+"="+url)
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	child.WaitDelay = 10 * time.Second
	if err := child.Run(); err != nil {
		return fmt.Errorf("%s: %w", command[0], err)
	}
	return nil
}

// ensureInstalled installs PostgreSQL when it is missing.
func ensureInstalled(ctx context.Context) error {
	_, err := postgrestest.Programs(ctx)
	if !errors.Is(err, postgrestest.ErrNotInstalled) {
		return err
	}
	if !debian() || os.Geteuid() != 0 {
		return fmt.Errorf("%w; elsewhere install the PostgreSQL server of your system, and its initdb and postgres will be found", err)
	}
	slog.InfoContext(ctx, "installing Debian's PostgreSQL, without a cluster of its own")
	if err := install(ctx); err != nil {
		return fmt.Errorf("install Debian's package postgresql: %w", err)
	}
	_, err = postgrestest.Programs(ctx)
	return err
}

// debian reports whether this system has Debian's packages.
func debian() bool {
	_, err := os.Stat("/etc/debian_version")
	_, aptErr := exec.LookPath("apt-get")
	return err == nil && aptErr == nil
}
