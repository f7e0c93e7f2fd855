// SPDX-License-Identifier: Apache-2.0

package event

import "time"

// retryDelays are the delays after each failed attempt. After the last retry, the delivery
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

// RetryDelay returns the delay before the next attempt, or false if attempt, counted from
// 1, was the last one. The delay is at least retryAfter. jitter, a random number from
// 0 to 1, lengthens it by up to jitterFactor.
func RetryDelay(attempt int, retryAfter time.Duration, jitter float64) (delay time.Duration, retry bool) {
	if attempt < 1 || attempt > len(retryDelays) {
		return 0, false
	}
	delay = max(retryDelays[attempt-1], min(retryAfter, maxRetryAfter))
	return delay + time.Duration(float64(delay)*jitterFactor*jitter), true
}
