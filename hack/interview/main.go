// SPDX-License-Identifier: Apache-2.0

// Command interview runs a symptom interview in the terminal. It sends the patient's own
// words to the parser, asks the server's questions until the response has should_stop, and
// prints the result. It can also run a survey. It is an ordinary client of the public API
// and contains no medical knowledge.
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

// serverFlags are the flags for the server's address and the credentials.
type serverFlags struct {
	URL      string `default:"http://127.0.0.1:8080" help:"Server URL. Defaults to the address of 'go run ./apiserver serve --dev'."`
	AppID    string `default:"dev" help:"Application ID."`
	AppKey   string `default:"dev-key" env:"APP_KEY" help:"Application key."`
	Instance string `default:"demo" help:"ID of the instance, required for surveys."`
}

// commands are the subcommands.
type commands struct {
	Interview interviewCommand `cmd:"" default:"withargs" help:"Run an interview without storing it."`
	Survey    surveyCommand    `cmd:"" help:"Run a survey, which the server stores."`
}

type surveyCommand struct {
	serverFlags
	Type     string `arg:"" default:"triage" enum:"triage,intake,follow_up" help:"triage, intake or follow_up."`
	Language string `help:"Language of the questions, such as de. Defaults to the server's default."`
}

// Run runs a survey for a newly created patient.
func (c *surveyCommand) Run(ctx context.Context, in *bufio.Scanner, out io.Writer) error {
	apiClient, err := c.newClient()
	if err != nil {
		return err
	}
	s := &surveySession{guidance: apiClient.Guidance, in: in, out: out, language: c.Language}
	return withServerHint(s.run(ctx, c.Type))
}

type interviewCommand struct {
	serverFlags
	Model      string       `help:"Model to use, such as service-en-us. Defaults to the server's default."`
	Sex        enginev3.Sex `required:"" enum:"female,male" help:"female or male."`
	Age        int          `required:"" help:"Age in years; 0 for infants, which requires --months."`
	Months     int          `help:"Age in months, used instead of --age for infants."`
	Complaints []string     `arg:"" optional:"" help:"Symptoms in the patient's own words, as in \"chest pain and cold sweats, no fever\". If unset, the command asks for them."`
}

// Run runs the interview.
func (c *interviewCommand) Run(ctx context.Context, in *bufio.Scanner, out io.Writer) error {
	apiClient, err := c.newClient(requestEditors(c.Model)...)
	if err != nil {
		return err
	}
	i := &interview{
		engine: apiClient.Engine,
		in:     in,
		out:    out,
		request: enginev3.Interview{
			Sex: c.Sex, Age: c.age(),
			Extras: &enginev3.InterviewExtras{EnableSymptomDuration: new(true)},
		},
	}
	return withServerHint(i.run(ctx, c.Complaints))
}

// withServerHint adds a hint to errors about the connection to the server.
func withServerHint(err error) error {
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("%w (is the server running? Start it with 'go run ./apiserver serve --dev')", err)
	}
	return err
}

// requestEditors returns request editors that exclude calls from usage counts and select
// the model, if set.
func requestEditors(model string) []client.Editor {
	editors := []client.Editor{client.DevMode()}
	if model != "" {
		editors = append(editors, client.Model(model))
	}
	return editors
}

func (s *serverFlags) newClient(editors ...client.Editor) (*client.Client, error) {
	return client.New(s.URL, client.Credentials{AppID: s.AppID, AppKey: s.AppKey, InstanceID: s.Instance}, client.WithEditors(editors...))
}

func (c *interviewCommand) age() enginev3.Age {
	if c.Age == 0 {
		return enginev3.Age{Value: c.Months, Unit: new(enginev3.AgeUnitMonth)}
	}
	return enginev3.Age{Value: c.Age, Unit: new(enginev3.AgeUnitYear)}
}

func main() {
	// The context is not canceled on interrupt, because cancellation would not unblock a
	// read from the terminal. An interrupt therefore terminates the program.
	parsed := kong.Parse(&commands{}, kong.Name("interview"), kong.Description("Run a symptom interview or a survey in the terminal."),
		kong.BindTo(context.Background(), (*context.Context)(nil)), kong.BindTo(os.Stdout, (*io.Writer)(nil)), kong.Bind(bufio.NewScanner(os.Stdin)))
	parsed.FatalIfErrorf(parsed.Run())
}
