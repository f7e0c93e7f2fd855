// SPDX-License-Identifier: Apache-2.0

// Command interview holds a symptom interview in the terminal: it has the
// patient's own words understood, asks what the server asks until that says to
// stop, and shows what came out. It is a client of the public API like any
// other and knows nothing about medicine.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/alecthomas/kong"

	"github.com/anamnesis-dev/anamnesis/client"
	"github.com/anamnesis-dev/anamnesis/client/enginev3"
)

type command struct {
	URL        string       `default:"http://127.0.0.1:8080" help:"The server; by default the one of 'go run ./apiserver serve --dev'."`
	AppID      string       `default:"dev" help:"The application's id."`
	AppKey     string       `default:"dev-key" env:"APP_KEY" help:"The application's key."`
	Model      string       `help:"The model to ask, such as service-en-us; left out, the server's default."`
	Sex        enginev3.Sex `required:"" enum:"female,male" help:"female or male."`
	Age        int          `required:"" help:"Age in years; 0 for infants, who need --months."`
	Months     int          `help:"Age in months, in place of --age, for the youngest."`
	Complaints []string     `arg:"" optional:"" help:"What brings the patient, in the patient's own words, as in \"chest pain and cold sweats, no fever\"; left out, it is asked."`
}

// Run holds the interview.
func (c *command) Run(ctx context.Context, in *bufio.Scanner, out io.Writer) error {
	dialled, err := c.dial()
	if err != nil {
		return err
	}
	i := &interview{
		engine: dialled.Engine,
		in:     in,
		out:    out,
		body: enginev3.Interview{
			Sex: c.Sex, Age: c.age(),
			Extras: &enginev3.InterviewExtras{EnableSymptomDuration: new(true)},
		},
	}
	return explain(i.hold(ctx, c.Complaints))
}

// explain says what to do when nobody listens at the address.
func explain(err error) error {
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%w (is the server running? 'go run ./apiserver serve --dev' starts one)", err)
	}
	return err
}

// dial makes a client whose calls count in no usage figure.
func (c *command) dial() (*client.Client, error) {
	editors := []client.Editor{client.DevMode()}
	if c.Model != "" {
		editors = append(editors, client.Model(c.Model))
	}
	return client.New(c.URL, client.Credentials{AppID: c.AppID, AppKey: c.AppKey}, client.WithEditors(editors...))
}

func (c *command) age() enginev3.Age {
	if c.Age == 0 {
		return enginev3.Age{Value: c.Months, Unit: new(enginev3.AgeUnitMonth)}
	}
	return enginev3.Age{Value: c.Age, Unit: new(enginev3.AgeUnitYear)}
}

func main() {
	// An interrupt ends the program at once: a context that ends does not wake
	// who waits for a line.
	parsed := kong.Parse(&command{}, kong.Name("interview"), kong.Description("Hold a symptom interview in the terminal."),
		kong.BindTo(context.Background(), (*context.Context)(nil)), kong.BindTo(os.Stdout, (*io.Writer)(nil)), kong.Bind(bufio.NewScanner(os.Stdin)))
	parsed.FatalIfErrorf(parsed.Run())
}
