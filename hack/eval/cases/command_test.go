// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// run runs the command with arguments as they are given to it.
func run(t *testing.T, arguments ...string) string {
	t.Helper()
	var c command
	parser, err := kong.New(&c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(arguments); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := c.Run(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestCommandPrintsOnePart(t *testing.T) {
	t.Parallel()
	got := run(t, "--part", "work", "--discipline", "cardiology", "--worst", "1")
	for _, want := range []string{"work: ", "first three", "median questions", "\n  cardiology ", "emergencies triaged below emergency: ", "asked but lost: "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	for _, other := range []string{"measure: ", "\n  urology "} {
		if strings.Contains(got, other) {
			t.Errorf("%q is in\n%s", other, got)
		}
	}
}

// TestMeasuredCasesStayHidden holds that of the part to measure on nothing is
// shown but figures, and the ids of emergencies.
func TestMeasuredCasesStayHidden(t *testing.T) {
	t.Parallel()
	shown := run(t, "--part", "measure", "--discipline", "cardiology", "--worst", "1000")
	for _, v := range part(t, measurePart) {
		for _, line := range slices.Concat([]string{v.Says, v.Diagnosis}, v.Present, v.Denied, v.History, v.Family) {
			if strings.Contains(shown, line) {
				t.Errorf("a line of %s is shown", v.ID)
			}
		}
		if strings.Contains(shown, v.ID) && !v.emergency() {
			t.Errorf("%s is shown", v.ID)
		}
	}
	_, list, _ := strings.Cut(strings.TrimSpace(shown), "triaged below emergency: ")
	if !regexp.MustCompile(`^\d+ of \d+(\n  [a-z_]+-m\d\d)*$`).MatchString(list) {
		t.Error("after the number of emergencies comes more than ids")
	}
}

func TestCommandFreezes(t *testing.T) {
	t.Parallel()
	got := run(t, "--freeze")
	if names, err := thawed(caseFiles, got); len(names) > 0 || err != nil {
		t.Errorf("not frozen by its own hashes: %v %v", names, err)
	}
	if strings.Contains(got, workPart+"/") || !strings.Contains(got, "  measure/cardiology.jsonl\n") {
		t.Error("expected the files of the part to measure on, and no others")
	}
}
