// SPDX-License-Identifier: Apache-2.0

// Command interview holds a symptom interview in the terminal: it has the
// patient's own words understood, asks what the server asks until that says to
// stop, and shows what came out. Or it walks through a survey. It is a client of the public API like any
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

// server says where to call, and as whom.
type server struct {
	URL      string `default:"http://127.0.0.1:8080" help:"The server; by default the one of 'go run ./apiserver serve --dev'."`
	AppID    string `default:"dev" help:"The application's id."`
	AppKey   string `default:"dev-key" env:"APP_KEY" help:"The application's key."`
	Instance string `default:"demo" help:"The id of the instance, which surveys need."`
}

// commands are what can be held.
type commands struct {
	Interview command       `cmd:"" default:"withargs" help:"Hold an interview, which keeps nothing."`
	Survey    surveyCommand `cmd:"" help:"Walk through a survey, which is kept."`
}

type surveyCommand struct {
	server
	Type     string `arg:"" default:"triage" enum:"triage,intake,follow_up" help:"triage, intake or follow_up."`
	Language string `help:"The language of the questions, such as de; left out, the server's default."`
}

// Run walks through a survey of a patient made for it.
func (c *surveyCommand) Run(ctx context.Context, in *bufio.Scanner, out io.Writer) error {
	dialled, err := c.dial()
	if err != nil {
		return err
	}
	w := &walk{guidance: dialled.Guidance, in: in, out: out, language: c.Language}
	return explain(w.hold(ctx, c.Type))
}

type command struct {
	server
	Model      string       `help:"The model to ask, such as service-en-us; left out, the server's default."`
	Sex        enginev3.Sex `required:"" enum:"female,male" help:"female or male."`
	Age        int          `required:"" help:"Age in years; 0 for infants, who need --months."`
	Months     int          `help:"Age in months, in place of --age, for the youngest."`
	Complaints []string     `arg:"" optional:"" help:"What brings the patient, in the patient's own words, as in \"chest pain and cold sweats, no fever\"; left out, it is asked."`
}

// Run holds the interview.
func (c *command) Run(ctx context.Context, in *bufio.Scanner, out io.Writer) error {
	dialled, err := c.dial(editors(c.Model)...)
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

// editors have calls count in no usage figure, and ask a model, if one is named.
func editors(model string) []client.Editor {
	editors := []client.Editor{client.DevMode()}
	if model != "" {
		editors = append(editors, client.Model(model))
	}
	return editors
}

func (s *server) dial(editors ...client.Editor) (*client.Client, error) {
	return client.New(s.URL, client.Credentials{AppID: s.AppID, AppKey: s.AppKey, InstanceID: s.Instance}, client.WithEditors(editors...))
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
	parsed := kong.Parse(&commands{}, kong.Name("interview"), kong.Description("Hold a symptom interview, or a survey, in the terminal."),
		kong.BindTo(context.Background(), (*context.Context)(nil)), kong.BindTo(os.Stdout, (*io.Writer)(nil)), kong.Bind(bufio.NewScanner(os.Stdin)))
	parsed.FatalIfErrorf(parsed.Run())
}
