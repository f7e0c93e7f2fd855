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
		flags:       []flag{{name: "--help", describe: "Show context-sensitive help."}},
		subcommands: []string{"serve", "model build", "migrate"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(help{}, flag{})); diff != "" {
		t.Error(diff)
	}
}

func TestParseHelpTellsDefaultsFromPlaceholders(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]flag{
		`      --listen=HOST:PORT     Listen address. Defaults to :8443 ($ANAMNESIS_LISTEN).`: {name: "--listen=HOST:PORT", environment: "ANAMNESIS_LISTEN", describe: "Listen address. Defaults to :8443."},
		`      --model=ID,...         Model to serve.`:                                        {name: "--model=ID,...", describe: "Model to serve."},
		`      --concurrency=10       Maximum.`:                                               {name: "--concurrency", defaultValue: "10", describe: "Maximum."},
		`      --bind-address=":8080"    Address; 0 disables it.`:                             {name: "--bind-address", defaultValue: ":8080", describe: "Address; 0 disables it."},
		`  -v, --verbose              Print more.`:                                            {name: "--verbose", describe: "Print more."},
	} {
		got, err := parseHelp("Usage: x\n\nDoes x.\n\nFlags:\n" + line + "\n")
		if err != nil || len(got.flags) != 1 {
			t.Errorf("%s: %v, %v", line, got.flags, err)
			continue
		}
		if diff := cmp.Diff(want, got.flags[0], cmp.AllowUnexported(flag{})); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}

func TestParseHelpRejectsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no usage":          "Flags:\n",
		"an unknown format": "Usage: x\n\nDoes x.\n\nFlags:\n  --flag: something\n",
	} {
		if got, err := parseHelp(text); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWriteCommandOmitsInheritedFlagsAndEscapes(t *testing.T) {
	t.Parallel()
	own := withoutFlags([]flag{{name: "--help"}, {name: "--database=URL", describe: "sqlite:<path>\nor a|b"}}, []flag{{name: "--help"}})
	var page strings.Builder
	writeCommand(&page, "### x", help{usage: "x", description: "Does x.", flags: own})
	want := "\n### x\n\nDoes x.\n\n    x\n\n| flag | default | environment variable | meaning |\n|---|---|---|---|\n" +
		"| `--database=URL` |  |  | sqlite:\\<path> or a\\|b |\n"
	if diff := cmp.Diff(want, page.String()); diff != "" {
		t.Error(diff)
	}
}
