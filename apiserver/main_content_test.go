// SPDX-License-Identifier: Apache-2.0

//go:build !race

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestModelAndMigrateCommands(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	for _, test := range []struct {
		arguments []string
		want      string // substring of the output
	}{
		{[]string{"model", "build", "--out", directory}, "service-en@"},
		{[]string{"model", "check", "--models", directory, "--model", "service-en", "--json"}, `{"models":[{"id":"service-en","version":"`},
		{[]string{"migrate", "--database", "sqlite:" + filepath.Join(directory, "a.db")}, "up to date"},
	} {
		out, err := run(t, test.arguments...)
		if err != nil || !strings.Contains(out, test.want) {
			t.Errorf("%v: %v\n%s\nexpected %s", test.arguments, err, out, test.want)
		}
	}
}
