// SPDX-License-Identifier: Apache-2.0

// Package serve runs the server of one tenant: it opens what the flags name,
// listens, keeps files current that may change, and leaves without losing a
// request. What is answered is the business of package server.
package serve

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/content"
	"github.com/anamnesis-dev/anamnesis/apiserver/modelcmd"
)

// Command is `apiserver serve`. Its fields are the flags, each of which may be
// given as an environment variable too.
type Command struct {
	Listen      string `env:"ANAMNESIS_LISTEN" placeholder:"HOST:PORT" help:"Address of the tenant. Left out: :8443, with --dev 127.0.0.1:8080."`
	AdminListen string `env:"ANAMNESIS_ADMIN_LISTEN" placeholder:"HOST:PORT" help:"Address of /livez, /readyz and /metrics. Left out: :8081, with --dev 127.0.0.1:8081."`
	TLSCertFile string `name:"tls-cert-file" env:"ANAMNESIS_TLS_CERT_FILE" type:"path" placeholder:"FILE" help:"Certificate chain in PEM, read again when it changes."`
	TLSKeyFile  string `name:"tls-key-file" env:"ANAMNESIS_TLS_KEY_FILE" type:"path" placeholder:"FILE" help:"Its key in PEM."`

	InstanceID  string `name:"instance-id" env:"ANAMNESIS_INSTANCE_ID" placeholder:"ID" help:"Id of the tenant. Left out with --dev: demo."`
	InstanceURL string `name:"instance-url" env:"ANAMNESIS_INSTANCE_URL" placeholder:"URL" help:"Public address of the tenant, for links and tokens."`

	CredentialsDir string `env:"ANAMNESIS_CREDENTIALS_DIR" type:"path" placeholder:"DIR" help:"Directory with a JSON file for each application: id, key, scopes, plan. Read again when it changes."`
	SigningKeysDir string `env:"ANAMNESIS_SIGNING_KEYS_DIR" type:"path" placeholder:"DIR" help:"Directory with the Ed25519 keys that sign tokens, in PEM. Read again when it changes."`
	KeysetsDir     string `env:"ANAMNESIS_KEYSETS_DIR" type:"path" placeholder:"DIR" help:"Directory with the Tink keysets encryption.json and lookup.json, which seal contact data. Read again when it changes. Left out with --dev: made in the data directory."`
	Config         string `env:"ANAMNESIS_CONFIG" type:"path" placeholder:"FILE" help:"YAML file with settings such as cors.allowedOrigins, plans and proxies. Read again when it changes."`

	NotificationsDir string `env:"ANAMNESIS_NOTIFICATIONS_DIR" type:"path" placeholder:"DIR" help:"Directory with the settings of mail and text messages, in files such as smtp.host and sms.url; may be missing. Read again when it changes."`

	Models  string   `env:"ANAMNESIS_MODELS" type:"path" placeholder:"DIR" help:"Directory of release files. Left out: /models, with --dev the content of this program."`
	Model   []string `env:"ANAMNESIS_MODEL" placeholder:"ID" help:"Model to serve, as id or id@version; the first is the default (repeatable). Left out: every one at its newest version."`
	DataDir string   `env:"ANAMNESIS_DATA_DIR" type:"path" placeholder:"DIR" help:"Directory of the embedded database. Left out: /var/lib/anamnesis, with --dev one of the user's own."`

	Database string         `env:"ANAMNESIS_DATABASE" placeholder:"URL" help:"sqlite:<path> or a postgres:// URL. Left out: sqlite: in the data directory."`
	Drain    *time.Duration `env:"ANAMNESIS_DRAIN" placeholder:"DURATION" help:"How long to go on serving after SIGTERM, while clients are sent elsewhere. Left out: 10s, with --dev 0s."`
	LogLevel string         `env:"ANAMNESIS_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" placeholder:"LEVEL" help:"From which level on to log: debug, info, warn or error. Left out: info."`
	Pprof    bool           `env:"ANAMNESIS_PPROF" help:"Serve profiles of the process at /debug/pprof/ of the admin address."`
	Dev      bool           `env:"ANAMNESIS_DEV" help:"For development: plain HTTP on loopback, application dev with key dev-key, pages on localhost allowed."`
}

// Run serves until the process is told to end. Told twice, it ends at once.
func (c *Command) Run(out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	o, err := c.options(os.Getenv)
	if err != nil {
		return err
	}
	o.log = c.logger(os.Stderr)
	if c.Dev {
		o.announce = func(s started) { fmt.Fprint(out, greeting(s)) }
	}
	if o.Models == "" {
		if o.Models, err = compiled(ctx, out); err != nil {
			return err
		}
	}
	return end(run(ctx, o), terminationLog)
}

var logLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// logger writes from the wanted level on: JSON, or lines for a developer.
func (c *Command) logger(to io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: logLevels[c.LogLevel]}
	if c.Dev {
		return slog.New(slog.NewTextHandler(to, options))
	}
	return slog.New(slog.NewJSONHandler(to, options))
}

// compiled is the directory of releases made of the content of this program.
func compiled(ctx context.Context, out io.Writer) (string, error) {
	root, err := modelcmd.CacheRoot()
	if err != nil {
		return "", err
	}
	slow := time.AfterFunc(time.Second, func() { fmt.Fprintln(out, "Compiling the medical content; the next start is faster.") })
	defer slow.Stop()
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program, to compile its content: %w", err)
	}
	return modelcmd.Cached(content.FS, root, modelcmd.Apart(ctx, program))
}
