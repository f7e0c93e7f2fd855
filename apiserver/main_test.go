// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/anamnesis-dev/anamnesis/version"
)

// run runs the command with these arguments.
func run(t *testing.T, arguments ...string) (out string, err error) {
	t.Helper()
	var text bytes.Buffer
	parser, err := kong.New(&commands{}, kongOptions(&text)...)
	if err != nil {
		t.Fatal(err)
	}
	command, err := parser.Parse(arguments)
	if err != nil {
		return "", err
	}
	err = command.Run()
	return text.String(), err
}

func TestInvalidArguments(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		arguments []string
		want      string // substring of the error
	}{
		{nil, "expected one of"},
		{[]string{"srve"}, "did you mean"},
		{[]string{"serve", "--tls-cert=x"}, "did you mean"},
		{[]string{"serve", "--drain=10"}, "missing unit"},
		{[]string{"serve"}, "--tls-cert-file is missing"},
		{[]string{"serve", "--dev", "--listen=:80"}, "is not a loopback address"},
		{[]string{"model", "build"}, "missing flags: --out"},
		{[]string{"model", "check", "--models", "/nowhere"}, "/nowhere"},
		{[]string{"migrate"}, "missing flags: --database"},
		{[]string{"migrate", "--database", "mysql://x"}, "postgres://"},
	} {
		if out, err := run(t, test.arguments...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v\n%s\nexpected %s", test.arguments, err, out, test.want)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	status := -1
	parser, err := kong.New(&commands{}, append(kongOptions(io.Discard), kong.Writers(&out, &out), kong.Exit(func(code int) { status = code }))...)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = parser.Parse([]string{"--version"}) // only an Exit that returns lets the parser go on
	if want := "apiserver " + version.Get().String() + "\n"; status != 0 || out.String() != want {
		t.Errorf("status %d, %q; want %q", status, out.String(), want)
	}
}
