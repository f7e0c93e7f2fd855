// SPDX-License-Identifier: Apache-2.0

// Package server runs the server of one tenant: it reads flags and files, listens,
// reloads changed files, and shuts down without losing a request. HTTP handlers belong to
// package router.
package server

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

// Command is `apiserver serve`. Its fields are flags, each of which can also be set as an
// environment variable.
type Command struct {
	Listen      string `env:"ANAMNESIS_LISTEN" placeholder:"HOST:PORT" help:"Listen address of the API and pages. Defaults to :8443, or 127.0.0.1:8080 with --dev."`
	AdminListen string `env:"ANAMNESIS_ADMIN_LISTEN" placeholder:"HOST:PORT" help:"Listen address of /livez, /readyz and /metrics. Defaults to :8081, or 127.0.0.1:8081 with --dev."`
	TLSCertFile string `name:"tls-cert-file" env:"ANAMNESIS_TLS_CERT_FILE" type:"path" placeholder:"FILE" help:"PEM certificate chain. Reloaded on change."`
	TLSKeyFile  string `name:"tls-key-file" env:"ANAMNESIS_TLS_KEY_FILE" type:"path" placeholder:"FILE" help:"PEM private key of the certificate."`

	InstanceID  string `name:"instance-id" env:"ANAMNESIS_INSTANCE_ID" placeholder:"ID" help:"Id of the tenant. Defaults to demo with --dev."`
	InstanceURL string `name:"instance-url" env:"ANAMNESIS_INSTANCE_URL" placeholder:"URL" help:"Public URL of the tenant, for links and tokens."`

	CredentialsDir string `env:"ANAMNESIS_CREDENTIALS_DIR" type:"path" placeholder:"DIR" help:"Directory with one JSON file per application: id, key, scopes, plan. Reloaded on change."`
	SigningKeysDir string `env:"ANAMNESIS_SIGNING_KEYS_DIR" type:"path" placeholder:"DIR" help:"Directory with the PEM Ed25519 keys that sign tokens. Reloaded on change."`
	KeysetsDir     string `env:"ANAMNESIS_KEYSETS_DIR" type:"path" placeholder:"DIR" help:"Directory with the Tink keysets encryption.json and lookup.json, which encrypt contact data. Reloaded on change. With --dev, defaults to keysets generated in the data directory."`
	Config         string `env:"ANAMNESIS_CONFIG" type:"path" placeholder:"FILE" help:"YAML file with settings such as cors.allowedOrigins, plans and proxies. Reloaded on change."`

	NotificationsDir string `env:"ANAMNESIS_NOTIFICATIONS_DIR" type:"path" placeholder:"DIR" help:"Directory with the email and SMS settings, in files such as smtp.host and sms.url; may be missing. Reloaded on change."`

	Models  string   `env:"ANAMNESIS_MODELS" type:"path" placeholder:"DIR" help:"Directory of release files. Defaults to /models, or to the embedded content with --dev."`
	Model   []string `env:"ANAMNESIS_MODEL" placeholder:"ID" help:"Model to serve, as id or id@version; the first is the default (repeatable). Defaults to all models at their newest versions."`
	DataDir string   `env:"ANAMNESIS_DATA_DIR" type:"path" placeholder:"DIR" help:"Directory of the embedded database. Defaults to /var/lib/anamnesis, or to the user's data directory with --dev."`

	Database string         `env:"ANAMNESIS_DATABASE" placeholder:"URL" help:"sqlite:<path> or a postgres:// URL. Defaults to SQLite in the data directory."`
	Drain    *time.Duration `env:"ANAMNESIS_DRAIN" placeholder:"DURATION" help:"How long to keep serving after SIGTERM while clients move to other endpoints. Defaults to 10s, or 0s with --dev."`
	LogLevel string         `env:"ANAMNESIS_LOG_LEVEL" enum:"debug,info,warn,error" default:"info" placeholder:"LEVEL" help:"Minimum log level: debug, info, warn or error. Defaults to info."`
	Pprof    bool           `env:"ANAMNESIS_PPROF" help:"Serve pprof profiles at /debug/pprof/ on the admin address."`
	Dev      bool           `env:"ANAMNESIS_DEV" help:"Development mode: plain HTTP on loopback, application dev with key dev-key, CORS for localhost."`
}

// Run serves until the process receives SIGINT or SIGTERM. A second signal ends it immediately.
func (c *Command) Run(out io.Writer) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	o, err := c.resolveOptions(os.Getenv)
	if err != nil {
		return err
	}
	o.log = c.newLogger(os.Stderr)
	if c.Dev {
		o.onStarted = func(s startInfo) { fmt.Fprint(out, devBanner(s)) }
	}
	if o.Models == "" {
		if o.Models, err = compileEmbeddedContent(ctx, out); err != nil {
			return err
		}
	}
	return reportExit(run(ctx, o), terminationLogPath)
}

var slogLevels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

// newLogger returns a logger at the configured level: JSON, or text for developers.
func (c *Command) newLogger(out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: slogLevels[c.LogLevel]}
	if c.Dev {
		return slog.New(slog.NewTextHandler(out, options))
	}
	return slog.New(slog.NewJSONHandler(out, options))
}

// compileEmbeddedContent compiles the embedded content and returns the release directory.
func compileEmbeddedContent(ctx context.Context, out io.Writer) (string, error) {
	root, err := modelcmd.DefaultCacheDir()
	if err != nil {
		return "", err
	}
	slow := time.AfterFunc(time.Second, func() { fmt.Fprintln(out, "Compiling the medical content; the next start is faster.") })
	defer slow.Stop()
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("locating the executable to compile its content: %w", err)
	}
	return modelcmd.EnsureCached(content.FS, root, modelcmd.BuildInSubprocess(ctx, program))
}
