// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	// initialRetryDelay is the delay before the first automatic retry of a failed template.
	// The delay doubles with every retry.
	initialRetryDelay = time.Minute
	// maxRetryDelay caps the retry delay, and maxDisruptiveRetryDelay caps it for an
	// Instance that is down during a retry.
	maxRetryDelay           = 30 * time.Minute
	maxDisruptiveRetryDelay = 24 * time.Hour
)

// RetryDelay returns the delay before the next automatic retry of a template, given the
// number of earlier attempts. interrupts reports whether a retry interrupts service.
func RetryDelay(attempts int32, interrupts bool) time.Duration {
	longest := maxRetryDelay
	if interrupts {
		longest = maxDisruptiveRetryDelay
	}
	pause := initialRetryDelay
	for ; attempts > 0 && pause < longest; attempts-- {
		pause *= 2
	}
	return min(pause, longest)
}

// nextRetry returns when the failed template is retried automatically. It returns zero
// unless the cause may be transient and another template was restored: without a
// rollback, the pods of the desired template still exist and keep trying.
func nextRetry(memory v1alpha1.RolloutStatus, interrupts bool) time.Time {
	if !memory.FailureReason.IsInstanceSpecific() || memory.FailedAt == nil || memory.LastReady == "" {
		return time.Time{}
	}
	return memory.FailedAt.Add(RetryDelay(memory.Attempts, interrupts))
}

// resetForRetry clears a failure if the desired template should be retried: immediately
// if a user requests it, or automatically once a retry is due and the rollback has
// either completed or failed, so that the retry does not cut a rollback short.
func resetForRetry(memory *v1alpha1.RolloutStatus, facts Facts, inVain bool) {
	asked := facts.Retry != "" && facts.Retry != memory.Retried
	memory.Retried = facts.Retry
	if memory.Failed == "" || memory.LastReady == "" {
		return
	}
	due := nextRetry(*memory, facts.Disruptive)
	arrived := facts.Live == memory.LastReady && (facts.State == Complete || inVain)
	switch {
	case asked:
		memory.Attempts = 0
	case !due.IsZero() && !facts.Now.Before(due) && arrived:
		memory.Attempts++
	default:
		return
	}
	clearFailure(memory)
}
