// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

func parseFlags(t *testing.T, arguments ...string) (flags, error) {
	t.Helper()
	var config flags
	parser, err := kong.New(&config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = parser.Parse(arguments)
	return config, err
}

func TestFlags(t *testing.T) {
	config, err := parseFlags(t, "--server-image=server:1", "--namespaces=a,b", "--watch-label-selector=team=blue", "--leader-elect", "--concurrency=3")
	if err != nil {
		t.Fatal(err)
	}
	options, err := config.options()
	if err != nil {
		t.Fatal(err)
	}
	if options.ServerImage != "server:1" || strings.Join(options.Namespaces, " ") != "a b" || options.Selector.String() != "team=blue" || options.Concurrency != 3 || options.Resync != 10*time.Minute || !config.LeaderElect {
		t.Errorf("got %+v", options)
	}
}

func TestFlagsRefuse(t *testing.T) {
	if _, err := parseFlags(t); err == nil || !strings.Contains(err.Error(), "--server-image") {
		t.Errorf("without an image: %v", err)
	}
	config, err := parseFlags(t, "--server-image=x", "--watch-label-selector=a in")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := config.options(); err == nil || !strings.Contains(err.Error(), "--watch-label-selector") {
		t.Errorf("a selector that is none: %v", err)
	}
}

func TestLeaseNameDiffersBySelector(t *testing.T) {
	seen := map[string]bool{}
	for _, selector := range []string{"", "team=blue", "team=red"} {
		config := flags{WatchLabelSelector: selector}
		options, err := config.options()
		if err != nil {
			t.Fatal(err)
		}
		name, err := leaseName(options)
		if err != nil || seen[name] {
			t.Errorf("selector %q: lease %q, %v", selector, name, err)
		}
		seen[name] = true
	}
	if !seen["anamnesis-operator"] {
		t.Error("an operator for all Instances has the plain name")
	}
}
