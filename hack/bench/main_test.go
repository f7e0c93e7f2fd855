// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct {
		name    string
		figures map[string]string
	}{
		"BenchmarkAssess/present=4-2   100  150000 ns/op  148.5 p50-µs  0 B/op": {"present=4", map[string]string{"ns/op": "150000", "p50-µs": "148.5", "B/op": "0"}},
		"BenchmarkOpen-16 \t 3 \t 9 ns/op\n":                                    {"", map[string]string{"ns/op": "9"}},
		"ok  \tpkg\t1.5s":                                                       {},
		"goos: linux":                                                           {},
		"":                                                                      {},
	} {
		name, figures, ok := parseLine(line)
		if diff := cmp.Diff(want.figures, figures); diff != "" || name != want.name || ok != (want.figures != nil) {
			t.Errorf("parseLine(%q): got name %q, ok %v (-want +got)\n%s", line, name, ok, diff)
		}
	}
}

func TestFormatFigures(t *testing.T) {
	t.Parallel()
	got := formatFigures(map[string]string{"a": "1", "b": "2", "c": "3"}, []string{"c", "x", "a"})
	if got != "3 c  1 a" {
		t.Errorf("got %q", got)
	}
}

func TestRSSAnon(t *testing.T) {
	t.Parallel()
	kilobytes, err := rssAnon(os.Getpid())
	if err != nil || kilobytes < 100 || kilobytes > 10_000_000 {
		t.Errorf("got %d kB, %v for this process", kilobytes, err)
	}
	if _, err := rssAnon(-1); err == nil {
		t.Error("got no error for a missing process")
	}
}
