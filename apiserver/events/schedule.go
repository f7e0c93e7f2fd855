// SPDX-License-Identifier: Apache-2.0

package events

import "time"

// pauses follow attempts that failed, one each. After the last nothing more is tried.
var pauses = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// MostAttempts is how often a delivery is tried.
func MostAttempts() int { return len(pauses) + 1 }

const (
	// jitter is by how much of itself a pause may be longer, so that what failed together
	// does not come back together.
	jitter = 0.2
	// longestRetryAfter is the longest that a receiver may ask us to wait.
	longestRetryAfter = 24 * time.Hour
)

// PauseAfter is how long to wait after an attempt, counted from 1 on, that failed, unless
// it was the last. It is at least as long as the receiver asked for, and longer by a part
// of itself that chance, from 0 to 1, says.
func PauseAfter(attempt int, retryAfter time.Duration, chance float64) (pause time.Duration, again bool) {
	if attempt < 1 || attempt > len(pauses) {
		return 0, false
	}
	pause = max(pauses[attempt-1], min(retryAfter, longestRetryAfter))
	return pause + time.Duration(float64(pause)*jitter*chance), true
}
