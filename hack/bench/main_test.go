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
			t.Errorf("%q: %q %v\n%s", line, name, ok, diff)
		}
	}
}

func TestFormatMetrics(t *testing.T) {
	t.Parallel()
	got := formatMetrics(map[string]string{"a": "1", "b": "2", "c": "3"}, []string{"c", "x", "a"})
	if got != "3 c  1 a" {
		t.Errorf("got %q", got)
	}
}

func TestRSSAnon(t *testing.T) {
	t.Parallel()
	own, err := rssAnon(os.Getpid())
	if err != nil || own < 100 || own > 10_000_000 {
		t.Errorf("this process has %d kB, %v", own, err)
	}
	if _, err := rssAnon(-1); err == nil {
		t.Error("no process: no error")
	}
}
