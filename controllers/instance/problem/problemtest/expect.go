// SPDX-License-Identifier: Apache-2.0

// Package problemtest compares problems in tests.
package problemtest

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

// Expect checks of which kind an error is: "" for none, "transient", or
// "stalled Reason" or "waiting Reason" for a problem, which must have a message.
func Expect(t *testing.T, name string, err error, want string) {
	t.Helper()
	if got := kindOf(err); got != want {
		t.Errorf("%s: got %q (%v), want %q", name, got, err, want)
	}
	if found := problem.Of(err); found != nil && found.Message == "" {
		t.Errorf("%s: a problem without a message", name)
	}
}

func kindOf(err error) string {
	found := problem.Of(err)
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
