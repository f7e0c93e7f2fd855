// SPDX-License-Identifier: Apache-2.0

// Command apiserver is the API server of one tenant. Its subcommands prepare the releases
// and databases that it serves.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/anamnesis-dev/anamnesis/apiserver/modelcmd"
	"github.com/anamnesis-dev/anamnesis/apiserver/server"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/version"
)

type commands struct {
	Version kong.VersionFlag `help:"Print the version and exit."`

	Serve   server.Command `cmd:"" help:"Serve the API of one tenant."`
	Model   modelCommands  `cmd:"" help:"Build and check medical models."`
	Migrate migrateCommand `cmd:"" help:"Apply pending database migrations, as serve does on startup."`
}

type modelCommands struct {
	Build modelcmd.Build `cmd:"" help:"Compile content into release files."`
	Check modelcmd.Check `cmd:"" help:"Check content sources, or the release files of a server."`
}

type migrateCommand struct {
	Database string `required:"" env:"ANAMNESIS_DATABASE" placeholder:"URL" help:"sqlite:<path> or a postgres:// URL."`
}

// Run migrates the database.
func (c *migrateCommand) Run(out io.Writer) error {
	if err := open.Migrate(context.Background(), c.Database); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, "The database schema is up to date.")
	return err
}

// kongOptions returns the options of the command line parser.
func kongOptions(out io.Writer) []kong.Option {
	return []kong.Option{
		kong.Name("apiserver"),
		kong.Description("Anamnesis: the symptom-assessment server of one tenant."),
		kong.Vars{"version": "apiserver " + version.Get().String()},
		kong.BindTo(out, (*io.Writer)(nil)),
	}
}

func main() {
	command := kong.Parse(&commands{}, kongOptions(os.Stdout)...)
	command.FatalIfErrorf(command.Run())
}
