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
// number of earlier attempts. disruptive reports whether a retry interrupts service.
func RetryDelay(attempts int32, disruptive bool) time.Duration {
	maxDelay := maxRetryDelay
	if disruptive {
		maxDelay = maxDisruptiveRetryDelay
	}
	delay := initialRetryDelay
	for ; attempts > 0 && delay < maxDelay; attempts-- {
		delay *= 2
	}
	return min(delay, maxDelay)
}

// nextRetry returns when the failed template is retried automatically, or zero if it is
// not. It is retried only if the cause may be transient and another template was restored:
// without a rollback, the pods of the desired template still exist and keep restarting.
func nextRetry(status v1alpha1.RolloutStatus, disruptive bool) time.Time {
	if !status.FailureReason.IsInstanceSpecific() || status.FailedAt == nil || status.LastReadyTemplateHash == "" {
		return time.Time{}
	}
	return status.FailedAt.Add(RetryDelay(status.Attempts, disruptive))
}

// resetForRetry clears a failure if the desired template should be retried: immediately
// if a user requests it, or automatically once a retry is due and the rollback has
// completed or failed.
func resetForRetry(status *v1alpha1.RolloutStatus, facts Facts, rollbackFailed bool) {
	requested := facts.Retry != "" && facts.Retry != status.LastHandledRetry
	status.LastHandledRetry = facts.Retry
	if status.FailedTemplateHash == "" || status.LastReadyTemplateHash == "" {
		return
	}
	due := nextRetry(*status, facts.Disruptive)
	rollbackEnded := facts.Live == status.LastReadyTemplateHash && (facts.State == Complete || rollbackFailed)
	switch {
	case requested:
		status.Attempts = 0
	case !due.IsZero() && !facts.Now.Before(due) && rollbackEnded:
		status.Attempts++
	default:
		return
	}
	clearFailure(status)
}
