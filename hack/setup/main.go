// SPDX-License-Identifier: Apache-2.0

// Command setup sets up what tests need and Go does not bring: a real
// PostgreSQL.
//
//	go run ./hack/setup postgres -- go test ./apiserver/storage/...
//	go run ./hack/setup postgres --listen 10.0.0.1:5432 --dir /var/tmp/pg
package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

type commands struct {
	Postgres postgresCommand `cmd:"" help:"Run a PostgreSQL server, installed first when it is missing and this is Debian and root."`
}

func main() {
	command := kong.Parse(&commands{}, kong.Name("setup"),
		kong.Description("Sets up what tests need and Go does not bring."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	command.BindTo(ctx, (*context.Context)(nil))
	err := command.Run()
	stop()
	var child *exec.ExitError
	if errors.As(err, &child) && child.Exited() {
		os.Exit(child.ExitCode()) // it has said why
	}
	command.FatalIfErrorf(err)
}
