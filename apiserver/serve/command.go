// SPDX-License-Identifier: Apache-2.0

// Package serve runs the server of one tenant: it opens what the flags name,
// listens, keeps files current that may change, and leaves without losing a
// request. What is answered is the business of package server.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/modelcmd"
)

// Command is `apiserver serve`. Its fields are the flags, each of which may be
// given as an environment variable too.
type Command struct {
	Listen      string `env:"ANAMNESIS_LISTEN" help:"Address of the tenant. Left out: :8443, with --dev 127.0.0.1:8080."`
	AdminListen string `env:"ANAMNESIS_ADMIN_LISTEN" help:"Address of /livez, /readyz, /metrics and profiles. Left out: :8081, with --dev 127.0.0.1:8081."`
	TLSCertFile string `name:"tls-cert-file" env:"ANAMNESIS_TLS_CERT_FILE" type:"path" help:"Certificate in PEM, read again when it changes."`
	TLSKeyFile  string `name:"tls-key-file" env:"ANAMNESIS_TLS_KEY_FILE" type:"path" help:"Its key in PEM."`

	InstanceID  string `name:"instance-id" env:"ANAMNESIS_INSTANCE_ID" help:"Id of the tenant. Left out with --dev: demo."`
	InstanceURL string `name:"instance-url" env:"ANAMNESIS_INSTANCE_URL" help:"Public address of the tenant, for links and tokens."`

	CredentialsDir string `env:"ANAMNESIS_CREDENTIALS_DIR" type:"path" help:"Directory with a JSON file for each application: id, key, scopes, plan. Read again when it changes."`
	SigningKeysDir string `env:"ANAMNESIS_SIGNING_KEYS_DIR" type:"path" help:"Directory with the Ed25519 keys that sign tokens, in PEM. Read again when it changes."`
	Config         string `env:"ANAMNESIS_CONFIG" type:"path" help:"YAML file with settings such as cors.allowedOrigins. Read again when it changes."`

	Models  string   `env:"ANAMNESIS_MODELS" type:"path" help:"Directory of release files. Left out: /models, with --dev the content of this program."`
	Model   []string `env:"ANAMNESIS_MODEL" help:"Model to serve, as id or id@version; the first is the default (repeatable). Left out: every one at its newest version."`
	DataDir string   `env:"ANAMNESIS_DATA_DIR" type:"path" help:"Directory of the embedded database. Left out: /var/lib/anamnesis, with --dev one of the user's own."`

	Database string        `env:"ANAMNESIS_DATABASE" help:"sqlite:<path> or a postgres:// URL. Left out: sqlite: in the data directory."`
	Drain    time.Duration `env:"ANAMNESIS_DRAIN" default:"10s" help:"How long to go on serving after SIGTERM, while clients are sent elsewhere (${default})."`
	Dev      bool          `env:"ANAMNESIS_DEV" help:"For development: plain HTTP on loopback, application dev with key dev-key, pages on localhost allowed."`
}

// Run serves until the process is told to end.
func (c *Command) Run(out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	options, err := c.options()
	if err != nil {
		return err
	}
	options.log = slog.New(slog.NewJSONHandler(os.Stderr, nil))
	if c.Dev {
		options.announce = func(address string) { fmt.Fprintf(out, greeting, address) }
	}
	return run(ctx, options)
}

const greeting = `Anamnesis serves on http://%[1]s. Ask it:

  curl -H 'App-Id: dev' -H 'App-Key: dev-key' -H 'Content-Type: application/json' \
    -d '{"sex":"female","age":{"value":34},"evidence":[{"id":"s_33","choice_id":"present","source":"initial"}]}' \
    http://%[1]s/v3/diagnosis

`

// options are the flags with all that was left out filled in.
func (c *Command) options() (options, error) {
	o := options{Command: *c}
	for _, text := range c.Model {
		wanted, err := model.ParseWanted(text)
		if err != nil {
			return options{}, fmt.Errorf("--model: %w", err)
		}
		o.wanted = append(o.wanted, wanted)
	}
	fill := o.fillServing
	if c.Dev {
		fill = o.fillDevelopment
	}
	if err := fill(); err != nil {
		return options{}, err
	}
	if o.Database == "" {
		o.Database = "sqlite:" + filepath.Join(o.DataDir, "anamnesis.db")
		if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
			return options{}, fmt.Errorf("making the data directory of --data-dir: %w", err)
		}
	}
	return o, nil
}

// options are what a server runs with.
type options struct {
	Command
	wanted []model.Wanted
	log    *slog.Logger
	// announce, if any, is told the tenant's address once it is listened at.
	announce func(address string)
}

// fillServing completes the flags of a server that tenants rely on, and
// refuses what would leave it open or without an identity.
func (o *options) fillServing() error {
	for _, needed := range []struct{ flag, value string }{
		{"--tls-cert-file", o.TLSCertFile},
		{"--tls-key-file", o.TLSKeyFile},
		{"--credentials-dir", o.CredentialsDir},
		{"--signing-keys-dir", o.SigningKeysDir},
		{"--instance-id", o.InstanceID},
	} {
		if needed.value == "" {
			return fmt.Errorf("%s is missing: give it, or --dev to try the server out on this machine", needed.flag)
		}
	}
	o.Listen = orElse(o.Listen, ":8443")
	o.AdminListen = orElse(o.AdminListen, ":8081")
	o.Models = orElse(o.Models, "/models")
	o.DataDir = orElse(o.DataDir, "/var/lib/anamnesis")
	return nil
}

// fillDevelopment completes the flags of a server that somebody tries out.
func (o *options) fillDevelopment() error {
	if o.TLSCertFile != "" || o.TLSKeyFile != "" {
		return errors.New("--dev serves plain HTTP: leave out --tls-cert-file and --tls-key-file, or --dev")
	}
	o.Listen = orElse(o.Listen, "127.0.0.1:8080")
	o.AdminListen = orElse(o.AdminListen, "127.0.0.1:8081")
	o.InstanceID = orElse(o.InstanceID, "demo")
	for _, address := range []string{o.Listen, o.AdminListen} {
		if !onLoopback(address) {
			return fmt.Errorf("%s is not a loopback address: --dev serves without encryption, so listen at one such as 127.0.0.1:8080", address)
		}
	}
	root, err := modelcmd.CacheRoot()
	if err != nil {
		return err
	}
	o.DataDir = orElse(o.DataDir, filepath.Join(filepath.Dir(root), "dev"))
	if o.Models != "" {
		return nil
	}
	o.Models, err = modelcmd.Cached(content.FS, root)
	return err
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
