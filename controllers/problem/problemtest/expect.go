// SPDX-License-Identifier: Apache-2.0

// Package problemtest provides assertions on problems for tests.
package problemtest

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Expect checks the kind of an error: "" for nil, "transient", or "stalled Reason" or
// "waiting Reason" for a problem, which must have a message.
func Expect(t *testing.T, name string, err error, want string) {
	t.Helper()
	if got := classify(err); got != want {
		t.Errorf("%s: got %q (%v), want %q", name, got, err, want)
	}
	if found := problem.FromError(err); found != nil && found.Message == "" {
		t.Errorf("%s: problem has no message", name)
	}
}

func classify(err error) string {
	found := problem.FromError(err)
	switch {
	case err == nil:
		return ""
	case found == nil:
		return "transient"
	case found.Stalled:
		return "stalled " + found.Reason
	}
	return "waiting " + found.Reason
}
