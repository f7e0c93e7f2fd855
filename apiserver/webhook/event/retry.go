// SPDX-License-Identifier: Apache-2.0

package event

import "time"

// retryDelays are the delays after each failed attempt. After the last one the delivery
// is given up.
var retryDelays = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
}

// MaxAttempts returns the maximum number of attempts per delivery.
func MaxAttempts() int { return len(retryDelays) + 1 }

const (
	// jitterFactor is the maximum jitter relative to the delay. Jitter spreads out retries
	// of deliveries that failed together.
	jitterFactor = 0.2
	// maxRetryAfter caps the Retry-After of a receiver.
	maxRetryAfter = 24 * time.Hour
)

// RetryDelay returns how long to wait after a failed attempt, counted from 1, and false
// after the last attempt. The delay is at least retryAfter, plus jitter scaled by
// chance, a random number from 0 to 1.
func RetryDelay(attempt int, retryAfter time.Duration, chance float64) (pause time.Duration, again bool) {
	if attempt < 1 || attempt > len(retryDelays) {
		return 0, false
	}
	pause = max(retryDelays[attempt-1], min(retryAfter, maxRetryAfter))
	return pause + time.Duration(float64(pause)*jitterFactor*chance), true
}
