// SPDX-License-Identifier: Apache-2.0

package build

import (
	"slices"
	"strings"
	"testing"
)

func TestCompilerEnv(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		environ    []string
		memory     uint64
		processors int
		want       []string
	}{
		{"plenty", nil, 64 << 30, 8, []string{"GOGC=off", "GOMEMLIMIT=3072MiB"}},
		{"shared by processors", nil, 16 << 30, 8, []string{"GOGC=off", "GOMEMLIMIT=2048MiB"}},
		{"too little", nil, 7 << 30, 8, nil},
		{"unknown", nil, 0, 8, nil},
		{"configured by GOGC", []string{"HOME=/", "GOGC=50"}, 64 << 30, 8, nil},
		{"configured by GOMEMLIMIT", []string{"GOMEMLIMIT=1GiB"}, 64 << 30, 8, nil},
	} {
		if got := compilerEnv(test.environ, test.memory, test.processors); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestParseAvailableMemory(t *testing.T) {
	t.Parallel()
	const meminfo = "MemTotal:       24580228 kB\nMemFree:        19281076 kB\nMemAvailable:   23456789 kB\n"
	if got := parseAvailableMemory(strings.NewReader(meminfo)); got != 23456789<<10 {
		t.Errorf("got %d", got)
	}
	if got := parseAvailableMemory(strings.NewReader("MemTotal: 1 kB\n")); got != 0 {
		t.Errorf("got %d without MemAvailable", got)
	}
}
