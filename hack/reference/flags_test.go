// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const rootHelp = `Usage: apiserver <command>

The server of one tenant.

Flags:
  -h, --help    Show context-sensitive help.

Commands:
  serve [flags]
    Serve the API of one tenant.

  model build --out=STRING [flags]
    Compile content into release files.

  migrate --database=URL
    Apply migrations.

Run "apiserver <command> --help" for more information on a command.
`

func TestParseHelpFindsSubcommands(t *testing.T) {
	t.Parallel()
	got, err := parseHelp(rootHelp)
	if err != nil {
		t.Fatal(err)
	}
	want := help{
		usage: "apiserver <command>", description: "The server of one tenant.",
		flags:       []flag{{name: "--help", meaning: "Show context-sensitive help."}},
		subcommands: []string{"serve", "model build", "migrate"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(help{}, flag{})); diff != "" {
		t.Error(diff)
	}
}

func TestParseHelpDistinguishesDefaultsFromPlaceholders(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]flag{
		`      --listen=HOST:PORT     Listen address. Defaults to :8443 ($ANAMNESIS_LISTEN).`: {name: "--listen=HOST:PORT", environment: "ANAMNESIS_LISTEN", meaning: "Listen address. Defaults to :8443."},
		`      --model=ID,...         Model to serve.`:                                        {name: "--model=ID,...", meaning: "Model to serve."},
		`      --concurrency=10       Maximum.`:                                               {name: "--concurrency", defaultValue: "10", meaning: "Maximum."},
		`      --bind-address=":8080"    Address; 0 disables it.`:                             {name: "--bind-address", defaultValue: ":8080", meaning: "Address; 0 disables it."},
		`  -v, --verbose              Print more.`:                                            {name: "--verbose", meaning: "Print more."},
	} {
		got, err := parseHelp("Usage: x\n\nDoes x.\n\nFlags:\n" + line + "\n")
		if err != nil || len(got.flags) != 1 {
			t.Errorf("%s: got flags %v, error %v", line, got.flags, err)
			continue
		}
		if diff := cmp.Diff(want, got.flags[0], cmp.AllowUnexported(flag{})); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}

func TestParseHelpRejectsUnknownFormat(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"missing usage":       "Flags:\n",
		"unknown flag format": "Usage: x\n\nDoes x.\n\nFlags:\n  --flag: something\n",
	} {
		if got, err := parseHelp(text); err == nil {
			t.Errorf("%s: got %v, want an error", name, got)
		}
	}
}

func TestWriteCommandOmitsInheritedFlagsAndEscapes(t *testing.T) {
	t.Parallel()
	own := removeInherited([]flag{{name: "--help"}, {name: "--database=URL", meaning: "sqlite:<path>\nor a|b"}}, []flag{{name: "--help"}})
	var page strings.Builder
	writeCommand(&page, "### x", help{usage: "x", description: "Does x.", flags: own})
	want := "\n### x\n\nDoes x.\n\n    x\n\n| flag | default | environment variable | meaning |\n|---|---|---|---|\n" +
		"| `--database=URL` |  |  | sqlite:\\<path> or a\\|b |\n"
	if diff := cmp.Diff(want, page.String()); diff != "" {
		t.Error(diff)
	}
}
