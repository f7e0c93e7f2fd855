// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/config"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/server/docs"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
)

// options are what a server runs with: the flags, checked, with all that was
// left out filled in.
type options struct {
	Command
	drain  time.Duration
	wanted []model.Wanted
	log    *slog.Logger
	// newStore returns the store that a URL names, which is not open yet.
	newStore func(url string) (storage.Store, error)
	// announce, if any, is told once the server listens.
	announce func(started)
}

// started says where a server is, a symptom that it can be asked about, and as
// which application: none but the one that --dev makes up.
type started struct {
	tenant, admin string // addresses
	symptom       string // an id
	application   docs.Application
}

// options checks the flags. The environment says where a developer's home is.
// Models stays empty where the content of the program is meant.
func (c *Command) options(environment func(string) string) (options, error) {
	o := options{Command: *c, newStore: open.New}
	var err error
	if o.wanted, err = parseWanted(c.Model); err != nil {
		return options{}, err
	}
	fill := o.fillServing
	if c.Dev {
		fill = func() error { return o.fillDevelopment(environment) }
	}
	err = errors.Join(fill(), o.check())
	if err != nil {
		return options{}, err
	}
	o.InstanceURL = strings.TrimSuffix(o.InstanceURL, "/")
	if c.Drain != nil {
		o.drain = *c.Drain
	}
	if o.Database == "" {
		o.Database = "sqlite:" + filepath.Join(o.DataDir, "anamnesis.db")
		if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
			return options{}, fmt.Errorf("making the data directory (--data-dir): %w", err)
		}
	}
	return o, nil
}

func parseWanted(texts []string) ([]model.Wanted, error) {
	var list []model.Wanted
	for _, text := range texts {
		wanted, err := model.ParseWanted(text)
		if err != nil {
			return nil, fmt.Errorf("--model: %w", err)
		}
		list = append(list, wanted)
	}
	return list, nil
}

// fillServing completes the flags of a server that tenants rely on, and
// refuses what would leave it open or without an identity.
func (o *options) fillServing() error {
	var missing []error
	for _, needed := range []struct{ flag, value, remedy string }{
		{"--tls-cert-file", o.TLSCertFile, "give a certificate in PEM"},
		{"--tls-key-file", o.TLSKeyFile, "give the key of the certificate in PEM"},
		{"--credentials-dir", o.CredentialsDir, `give a directory with a file such as portal.json: {"id": "portal", "key": "...", "scopes": ["knowledge:read"]}`},
		{"--signing-keys-dir", o.SigningKeysDir, "give a directory with a file such as 2026-11.pem, made by: openssl genpkey -algorithm ed25519"},
		{"--keysets-dir", o.KeysetsDir, "give a directory with two Tink keysets in clear text: encryption.json (AES256_GCM) and lookup.json (HMAC_SHA256_PRF)"},
		{"--instance-id", o.InstanceID, "give the id of the tenant, such as acme"},
	} {
		if needed.value == "" {
			missing = append(missing, fmt.Errorf("%s is missing: %s", needed.flag, needed.remedy))
		}
	}
	if missing != nil {
		missing = append(missing, errors.New("or give --dev to try the server out on this machine"))
	}
	o.Listen = orElse(o.Listen, ":8443")
	o.AdminListen = orElse(o.AdminListen, ":8081")
	o.Models = orElse(o.Models, "/models")
	o.DataDir = orElse(o.DataDir, "/var/lib/anamnesis")
	o.drain = 10 * time.Second
	return errors.Join(missing...)
}

// fillDevelopment completes the flags of a server that somebody tries out.
func (o *options) fillDevelopment(environment func(string) string) error {
	if o.TLSCertFile != "" || o.TLSKeyFile != "" {
		return errors.New("--dev serves plain HTTP: leave out --tls-cert-file and --tls-key-file, or --dev")
	}
	o.Listen = orElse(o.Listen, "127.0.0.1:8080")
	o.AdminListen = orElse(o.AdminListen, "127.0.0.1:8081")
	o.InstanceID = orElse(o.InstanceID, "demo")
	for _, address := range []string{o.Listen, o.AdminListen} {
		if host, _, err := net.SplitHostPort(address); err == nil && !isLoopback(host) {
			return fmt.Errorf("%s is not a loopback address: --dev serves without encryption and with a known key, so listen at one such as 127.0.0.1:8080", address)
		}
	}
	if o.DataDir == "" && (o.Database == "" || o.KeysetsDir == "") {
		var err error
		o.DataDir, err = userDataDir(environment)
		return err
	}
	return nil
}

// userDataDir is where the user's own data is, by the XDG base directory
// specification.
func userDataDir(environment func(string) string) (string, error) {
	if xdg := environment("XDG_DATA_HOME"); filepath.IsAbs(xdg) {
		return filepath.Join(xdg, "anamnesis"), nil
	}
	if home := environment("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "share", "anamnesis"), nil
	}
	return "", errors.New("there is no home directory to keep the database in: set HOME, or give --data-dir")
}

var instanceID = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)

// check refuses what cannot be right whatever else is given.
func (o *options) check() error {
	var wrong []error
	for _, listen := range []struct{ flag, address string }{{"--listen", o.Listen}, {"--admin-listen", o.AdminListen}} {
		if _, port, err := net.SplitHostPort(listen.address); err != nil || port == "" {
			wrong = append(wrong, fmt.Errorf("%s %q: expected host:port or :port", listen.flag, listen.address))
		}
	}
	if o.InstanceID != "" && !instanceID.MatchString(o.InstanceID) {
		wrong = append(wrong, fmt.Errorf("--instance-id %q: expected small letters, digits, - and ., such as acme", o.InstanceID))
	}
	if _, err := config.NewURL(o.InstanceURL); err != nil {
		wrong = append(wrong, fmt.Errorf("--instance-url: %w", err))
	}
	if o.Drain != nil && *o.Drain < 0 {
		wrong = append(wrong, fmt.Errorf("--drain %s: expected a time such as 10s, or 0s", *o.Drain))
	}
	return errors.Join(wrong...)
}

// embedded reports whether storage is a file of this process.
func (o *options) embedded() bool { return strings.HasPrefix(o.Database, "sqlite:") }

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}
