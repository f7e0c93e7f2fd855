// SPDX-License-Identifier: Apache-2.0

// Command apiserver is the server of one tenant, and what is needed to make
// ready what it serves: releases and databases.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/anamnesis-dev/anamnesis/apiserver/modelcmd"
	"github.com/anamnesis-dev/anamnesis/apiserver/serve"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

type commands struct {
	Serve   serve.Command  `cmd:"" help:"Serve the API of one tenant."`
	Model   modelCommands  `cmd:"" help:"Build and check medical models."`
	Migrate migrateCommand `cmd:"" help:"Bring the tables of a database up to date, as serve does by itself."`
}

type modelCommands struct {
	Build modelcmd.Build `cmd:"" help:"Compile content into release files."`
	Check modelcmd.Check `cmd:"" help:"Check content sources, or the release files of a server."`
}

type migrateCommand struct {
	Database string `required:"" env:"ANAMNESIS_DATABASE" placeholder:"URL" help:"sqlite:<path> or a postgres:// URL."`
}

// Run brings the tables up to date.
func (c *migrateCommand) Run(out io.Writer) error {
	if err := open.Migrate(context.Background(), c.Database); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "The tables are up to date.")
	return err
}

// settings are how the command line is read.
func settings(out io.Writer) []kong.Option {
	return []kong.Option{
		kong.Name("apiserver"),
		kong.Description("Anamnesis: the symptom-assessment server of one tenant."),
		kong.BindTo(out, (*io.Writer)(nil)),
	}
}

func main() {
	command := kong.Parse(&commands{}, settings(os.Stdout)...)
	command.FatalIfErrorf(command.Run())
}
