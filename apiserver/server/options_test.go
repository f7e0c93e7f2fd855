// SPDX-License-Identifier: Apache-2.0

package server

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

func fakeEnv(home string) func(string) string {
	return func(name string) string { return map[string]string{"HOME": home}[name] }
}

// productionCommand returns a command with all required flags.
func productionCommand(data string) Command {
	return Command{
		TLSCertFile: "/tls.crt", TLSKeyFile: "/tls.key", CredentialsDir: "/credentials", SigningKeysDir: "/keys", KeysetsDir: "/keysets",
		InstanceID: "acme", DataDir: data,
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	data := filepath.Join(home, "data")
	for name, test := range map[string]struct{ command, want Command }{
		"serving": {productionCommand(data), Command{
			Listen: ":8443", AdminListen: ":8081", Models: "/models", Database: "sqlite:" + data + "/anamnesis.db",
		}},
		"serving with all given": {
			editedCommand(productionCommand(data), func(c *Command) {
				c.Listen, c.AdminListen, c.Models, c.Database = "10.0.0.1:443", "[::1]:9000", "/m", "postgres://u@h/d"
				c.InstanceURL = "https://acme.example/"
			}),
			Command{Listen: "10.0.0.1:443", AdminListen: "[::1]:9000", Models: "/m", Database: "postgres://u@h/d", InstanceURL: "https://acme.example"},
		},
		"development": {Command{Dev: true}, Command{
			Listen: "127.0.0.1:8080", AdminListen: "127.0.0.1:8081", InstanceID: "demo", DataDir: home + "/.local/share/anamnesis",
			Database: "sqlite:" + home + "/.local/share/anamnesis/anamnesis.db",
		}},
		"development with an address": {
			Command{Dev: true, Listen: "localhost:0", AdminListen: "[::1]:0", Database: "sqlite:/x.db", InstanceID: "me", Models: "/m"},
			Command{
				Listen: "localhost:0", AdminListen: "[::1]:0", InstanceID: "me", Database: "sqlite:/x.db", Models: "/m",
				DataDir: home + "/.local/share/anamnesis",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := test.command.resolveOptions(fakeEnv(home))
			if err != nil {
				t.Fatal(err)
			}
			want := test.want
			want.TLSCertFile, want.TLSKeyFile = test.command.TLSCertFile, test.command.TLSKeyFile
			want.CredentialsDir, want.SigningKeysDir, want.KeysetsDir = test.command.CredentialsDir, test.command.SigningKeysDir, test.command.KeysetsDir
			want.Dev, want.InstanceID = test.command.Dev, stringOr(want.InstanceID, test.command.InstanceID)
			want.DataDir = stringOr(want.DataDir, test.command.DataDir)
			if diff := cmp.Diff(want, got.Command, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func editedCommand(c Command, edit func(*Command)) Command {
	edit(&c)
	return c
}

func TestDataDirIsCreated(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for name, test := range map[string]struct {
		command Command
		dir     string
		exists  bool
	}{
		"default in development": {Command{Dev: true}, home + "/.local/share/anamnesis", true},
		"set by flag":            {productionCommand(home + "/given"), home + "/given", true},
		"external database":      {editedCommand(productionCommand(home+"/unused"), func(c *Command) { c.Database = "postgres://u@h/d" }), home + "/unused", false},
	} {
		if _, err := test.command.resolveOptions(fakeEnv(home)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		info, err := os.Stat(test.dir)
		if exists := err == nil; exists != test.exists {
			t.Errorf("%s: directory %s exists: %v, want %v", name, test.dir, exists, test.exists)
		} else if exists && info.Mode().Perm() != 0o700 {
			t.Errorf("%s: directory %s has mode %v, want 0700", name, test.dir, info.Mode())
		}
	}
}

func TestUserDataDir(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ xdg, home, want string }{
		{"/xdg", "/home/me", "/xdg/anamnesis"},
		{"", "/home/me", "/home/me/.local/share/anamnesis"},
		{"relative", "/home/me", "/home/me/.local/share/anamnesis"},
		{"", "", ""},
		{"", "relative", ""},
	} {
		values := map[string]string{"XDG_DATA_HOME": test.xdg, "HOME": test.home}
		got, err := userDataDir(func(name string) string { return values[name] })
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("XDG_DATA_HOME=%s HOME=%s: got %q, error %v", test.xdg, test.home, got, err)
		}
	}
}

func TestDrain(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for name, test := range map[string]struct {
		command Command
		want    time.Duration
	}{
		"production":  {productionCommand(home), 10 * time.Second},
		"development": {Command{Dev: true}, 0},
		"disabled":    {editedCommand(productionCommand(home), func(c *Command) { c.Drain = new(time.Duration(0)) }), 0},
		"set by flag": {Command{Dev: true, Drain: new(3 * time.Second)}, 3 * time.Second},
	} {
		got, err := test.command.resolveOptions(fakeEnv(home))
		if err != nil || got.drainPeriod != test.want {
			t.Errorf("%s: got drain period %v, error %v, want %v", name, got.drainPeriod, err, test.want)
		}
	}
}

// TestOptionsValidation checks that each error names the remedy, and several errors are
// reported at once.
func TestOptionsValidation(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "file"), "")
	for name, test := range map[string]struct {
		command Command
		want    []string
	}{
		"no flags": {Command{}, []string{
			"--tls-cert-file is missing: provide a PEM certificate", "--tls-key-file is missing: provide the PEM key",
			"--credentials-dir is missing: provide a directory", "--signing-keys-dir is missing: provide a directory",
			"openssl genpkey -algorithm ed25519", "--instance-id is missing: provide the id", "or use --dev",
		}},
		"no TLS key": {editedCommand(productionCommand(home), func(c *Command) { c.TLSKeyFile = "" }), []string{"--tls-key-file is missing"}},
		"certificate in development": {Command{Dev: true, TLSCertFile: "/tls.crt"},
			[]string{"--dev serves plain HTTP: remove --tls-cert-file"}},
		"all addresses in development":    {Command{Dev: true, Listen: ":8080"}, []string{":8080 is not a loopback address", "127.0.0.1:8080"}},
		"wildcard address in development": {Command{Dev: true, Listen: "0.0.0.0:8080"}, []string{"0.0.0.0:8080 is not a loopback"}},
		"network address in development":  {Command{Dev: true, Listen: "192.168.0.1:80"}, []string{"192.168.0.1:80 is not a loopback"}},
		"admin address in development":    {Command{Dev: true, AdminListen: ":8081"}, []string{":8081 is not a loopback"}},
		"listen address without colon":    {editedCommand(productionCommand(home), func(c *Command) { c.Listen = "8443" }), []string{`invalid --listen "8443": expected host:port or :port`}},
		"listen address without port":     {editedCommand(productionCommand(home), func(c *Command) { c.AdminListen = "127.0.0.1:" }), []string{`invalid --admin-listen "127.0.0.1:": expected`}},
		"instance id with spaces":         {editedCommand(productionCommand(home), func(c *Command) { c.InstanceID = "Acme Inc" }), []string{`invalid --instance-id "Acme Inc": expected lowercase letters`}},
		"URL without scheme":              {editedCommand(productionCommand(home), func(c *Command) { c.InstanceURL = "acme.example" }), []string{`--instance-url: invalid instance URL "acme.example": expected`}},
		"URL with query":                  {editedCommand(productionCommand(home), func(c *Command) { c.InstanceURL = "https://acme.example?x=1" }), []string{"--instance-url"}},
		"negative drain period":           {editedCommand(productionCommand(home), func(c *Command) { c.Drain = new(-time.Second) }), []string{"invalid --drain -1s: expected a duration"}},
		"invalid model id":                {editedCommand(productionCommand(home), func(c *Command) { c.Model = []string{"service-en", "Service_de"} }), []string{`--model: invalid model "Service_de": expected an ID such as`}},
		"no home directory":               {Command{Dev: true}, []string{"set HOME or --data-dir"}},
		"data directory below a file":     {editedCommand(productionCommand(filepath.Join(home, "file", "data")), func(*Command) {}), []string{"--data-dir"}},
		"several errors": {editedCommand(productionCommand(home), func(c *Command) { c.Listen, c.InstanceID, c.TLSCertFile = "x", "X", "" }),
			[]string{"--listen", "--instance-id", "--tls-cert-file"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := test.command.resolveOptions(func(string) string { return "" })
			if err == nil {
				t.Fatal("got no error, want one")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got error %q, want it to contain %q", err, want)
				}
			}
		})
	}
}

func TestParseModelSelectors(t *testing.T) {
	t.Parallel()
	o, err := (&Command{Dev: true, DataDir: "/x", Database: "sqlite:/x", Model: []string{"service-en@" + versionMay, "service-de"}}).resolveOptions(fakeEnv(""))
	if err != nil {
		t.Fatal(err)
	}
	want := []model.ReleaseRef{{ID: "service-en", Version: versionMay}, {ID: "service-de"}}
	if diff := cmp.Diff(want, o.modelSelectors); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestFlagsHaveEnvVars checks that each flag has an environment variable with a matching
// name.
func TestFlagsHaveEnvVars(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&Command{})
	if err != nil {
		t.Fatal(err)
	}
	flags := 0
	for _, flag := range parser.Model.Flags {
		if flag.Name == "help" {
			continue
		}
		flags++
		want := []string{"ANAMNESIS_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))}
		if diff := cmp.Diff(want, flag.Envs); diff != "" {
			t.Errorf("--%s (-want +got)\n%s", flag.Name, diff)
		}
		if flag.Help == "" {
			t.Errorf("--%s has no help text", flag.Name)
		}
	}
	if fields := reflect.TypeFor[Command]().NumField(); flags != fields {
		t.Errorf("got %d flags for %d fields", flags, fields)
	}
}

func TestFlagParsing(t *testing.T) {
	t.Parallel()
	var c Command
	parser, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{
		"--tls-cert-file=/c", "--tls-key-file", "/k", "--model", "service-en@" + versionNovember, "--model=service-de", "--drain=2s", "--instance-id=acme",
	}); err != nil {
		t.Fatal(err)
	}
	want := Command{
		TLSCertFile: "/c", TLSKeyFile: "/k", Model: []string{"service-en@" + versionNovember, "service-de"}, Drain: new(2 * time.Second), InstanceID: "acme", LogLevel: "info",
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestLogLevel counts how many of four records, one per level, are logged.
func TestLogLevel(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]int{"debug": 4, "info": 3, "": 3, "warn": 2, "error": 1} {
		arguments := []string{}
		if level != "" {
			arguments = append(arguments, "--log-level="+level)
		}
		for _, mode := range [][]string{nil, {"--dev"}} {
			var c Command
			parser, err := kong.New(&c)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parser.Parse(append(mode, arguments...)); err != nil {
				t.Fatal(err)
			}
			var written strings.Builder
			log := c.newLogger(&written)
			log.Debug("d")
			log.Info("i")
			log.Warn("w")
			log.Error("e")
			if got := strings.Count(written.String(), "\n"); got != want {
				t.Errorf("level %q, %v: got %d records, want %d:\n%s", level, mode, got, want, &written)
			}
		}
	}
}

func TestInvalidLogLevel(t *testing.T) {
	t.Parallel()
	parser, err := kong.New(&Command{})
	if err != nil {
		t.Fatal(err)
	}
	want := `--log-level must be one of "debug","info","warn","error" but got "loud"`
	if _, err := parser.Parse([]string{"--log-level=loud"}); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}
