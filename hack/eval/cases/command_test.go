// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

// runCommand runs the command with the given arguments and returns its output.
func runCommand(t *testing.T, arguments ...string) string {
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

func TestCommandPrintsSelectedSet(t *testing.T) {
	t.Parallel()
	got := runCommand(t, "--part", "work", "--discipline", "cardiology", "--worst", "1")
	for _, want := range []string{"work: ", "first three", "median questions", "\n  cardiology ", "emergencies triaged below emergency: ", "asked but outranked: "} {
		if !strings.Contains(got, want) {
			t.Errorf("output does not contain %q:\n%s", want, got)
		}
	}
	for _, unwanted := range []string{"measure: ", "\n  urology "} {
		if strings.Contains(got, unwanted) {
			t.Errorf("output contains %q:\n%s", unwanted, got)
		}
	}
}

// TestHoldoutCasesStayHidden checks that the report on the held-out set shows only
// metrics and the IDs of emergency cases.
func TestHoldoutCasesStayHidden(t *testing.T) {
	t.Parallel()
	output := runCommand(t, "--part", "measure", "--discipline", "cardiology", "--worst", "1000")
	for _, v := range loadSet(t, dataset.Holdout) {
		for _, line := range slices.Concat([]string{v.ChiefComplaint, v.Diagnosis}, v.Present, v.Denied, v.History, v.Family) {
			if strings.Contains(output, line) {
				t.Errorf("output contains a line of %s", v.ID)
			}
		}
		if strings.Contains(output, v.ID) && !v.isEmergency() {
			t.Errorf("output contains %s, which is not an emergency", v.ID)
		}
	}
	_, list, _ := strings.Cut(strings.TrimSpace(output), "triaged below emergency: ")
	if !regexp.MustCompile(`^\d+ of \d+(\n  [a-z_]+-m\d\d)*$`).MatchString(list) {
		t.Error("list of missed emergencies contains more than IDs")
	}
}

func TestCommandPrintsChecksums(t *testing.T) {
	t.Parallel()
	got := runCommand(t, "--freeze")
	if names, err := changedFiles(caseFiles, got); len(names) > 0 || err != nil {
		t.Errorf("got changed files %v, error %v", names, err)
	}
	if strings.Contains(got, dataset.Development+"/") || !strings.Contains(got, "  measure/cardiology.jsonl\n") {
		t.Error("want only the files of the held-out set")
	}
}
