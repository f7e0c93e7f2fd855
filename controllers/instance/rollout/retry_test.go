// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRetryDelay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		attempts   int32
		disruptive bool
		want       time.Duration
	}{
		"first":                {0, false, time.Minute},
		"second":               {1, false, 2 * time.Minute},
		"fifth":                {4, false, 16 * time.Minute},
		"longest":              {5, false, 30 * time.Minute},
		"forever":              {1 << 30, false, 30 * time.Minute},
		"sixth interruption":   {5, true, 32 * time.Minute},
		"longest interruption": {11, true, 24 * time.Hour},
		"interruption forever": {1 << 30, true, 24 * time.Hour},
	} {
		if got := RetryDelay(test.attempts, test.disruptive); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// TestRetryDelayIncreases checks that delays never decrease and at most double, and that
// the delay of a disruptive retry is never shorter.
func TestRetryDelayIncreases(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		attempts := rapid.Int32Range(0, 1<<31-2).Draw(t, "attempts")
		for _, disruptive := range []bool{false, true} {
			delay, next := RetryDelay(attempts, disruptive), RetryDelay(attempts+1, disruptive)
			if next < delay || next > 2*delay || delay < initialRetryDelay {
				t.Fatalf("delay %s is followed by %s", delay, next)
			}
		}
		if RetryDelay(attempts, true) < RetryDelay(attempts, false) {
			t.Fatal("a disruptive retry comes sooner than another retry")
		}
	})
}
