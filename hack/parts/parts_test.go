// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const makefile = `
.PHONY: test-unit
test-unit: models ## Unit tests.
	@go test ./...

test-e2e: bin/cluster ## End-to-end tests.
models: # Compile the content.
`

func TestFindParts(t *testing.T) {
	t.Parallel()
	parts, err := findParts(makefile, []string{"test-e2e", "test-unit"})
	want := []part{{"test-e2e", "End-to-end tests."}, {"test-unit", "Unit tests."}}
	if err != nil || !slices.Equal(parts, want) {
		t.Errorf("got %v, %v", parts, err)
	}
	if _, err := findParts(makefile, []string{"models"}); err == nil || !strings.Contains(err.Error(), `"models"`) {
		t.Errorf("got error %v for a target without a description", err)
	}
}

// TestMakefileDocumentsParts checks that `make test` names targets that exist.
func TestMakefileDocumentsParts(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, found := strings.Cut(string(content), "go run ./hack/parts ")
	if !found {
		t.Fatal("the Makefile does not run hack/parts")
	}
	line, _, _ := strings.Cut(recipe, "\n")
	if _, err := findParts(string(content), strings.Fields(line)); err != nil {
		t.Error(err)
	}
}

// newRunner returns a runner whose targets take 90 seconds each and return the given
// errors.
func newRunner(output *bytes.Buffer, failures map[string]error) runner {
	clock := time.Unix(0, 0)
	return runner{
		output: output,
		now:    func() time.Time { return clock },
		make: func(_ context.Context, target string) error {
			clock = clock.Add(90 * time.Second)
			return failures[target]
		},
	}
}

var threeParts = []part{{"a", "First."}, {"b", "Second."}, {"c", "Third."}}

func TestRunContinuesAfterFailure(t *testing.T) {
	t.Parallel()
	var output bytes.Buffer
	err := newRunner(&output, map[string]error{"b": errors.New("exit status 2")}).run(t.Context(), threeParts)
	if err == nil || err.Error() != "failed or not run: b; rerun with: make b" {
		t.Errorf("got error %v", err)
	}
	want := `Parts:
  a                  First.
  b                  Second.
  c                  Third.

=== a
=== a passed     1m30s

=== b
=== b FAILED     1m30s

=== c
=== c passed     1m30s

Summary:
  a                  passed     1m30s
  b                  FAILED     1m30s
  c                  passed     1m30s
`
	if diff := cmp.Diff(want, output.String()); diff != "" {
		t.Error(diff)
	}
}

func TestRunPasses(t *testing.T) {
	t.Parallel()
	if err := newRunner(new(bytes.Buffer), nil).run(t.Context(), threeParts); err != nil {
		t.Error(err)
	}
}

// TestInterruptedPartsAreNotPassed checks that parts that an interrupt prevented from
// running fail the run.
func TestInterruptedPartsAreNotPassed(t *testing.T) {
	t.Parallel()
	var output bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	interrupted := newRunner(&output, nil)
	interrupted.make = func(context.Context, string) error { cancel(); return context.Canceled }
	err := interrupted.run(ctx, threeParts)
	if err == nil || !strings.Contains(err.Error(), "failed or not run: a b c;") {
		t.Errorf("got error %v", err)
	}
	if got := strings.Count(output.String(), "not run"); got != 2 {
		t.Errorf("got %d parts reported as not run, want 2:\n%s", got, &output)
	}
}

func TestRunMakeReportsFailure(t *testing.T) {
	t.Setenv("MAKE", "false")
	if err := runMake(t.Context(), "test"); err == nil {
		t.Error("got no error from a failing make")
	}
	t.Setenv("MAKE", "true")
	if err := runMake(t.Context(), "test"); err != nil {
		t.Error(err)
	}
}
