// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	// firstPause is how long after a failure a template is tried again by itself;
	// each pause is twice the one before.
	firstPause = time.Minute
	// longestPause is where the pauses stop to grow, and longestInterruptionPause
	// where they do for an Instance that serves nobody meanwhile.
	longestPause             = 30 * time.Minute
	longestInterruptionPause = 24 * time.Hour
)

// Pause is how long to wait after a failure before a template is tried again by
// itself, having been tried again so many times already. interrupts says that each
// try is an interruption.
func Pause(tries int32, interrupts bool) time.Duration {
	longest := longestPause
	if interrupts {
		longest = longestInterruptionPause
	}
	pause := firstPause
	for ; tries > 0 && pause < longest; tries-- {
		pause *= 2
	}
	return min(pause, longest)
}

// retryAt is when what failed is tried again by itself: where the cause may pass,
// and something was put back. Without that the pods of the wish are still there
// and go on trying.
func retryAt(memory v1alpha1.Rollout, interrupts bool) time.Time {
	if !memory.FailedCause.IsOwn() || memory.FailedAt == nil || memory.LastReady == "" {
		return time.Time{}
	}
	return memory.FailedAt.Add(Pause(memory.Tries, interrupts))
}

// tryAgain forgets a failure where the wish is to be tried again: at once when
// somebody asks for it, and by itself when it is due and what was put back has
// either become ready or does not, so that nobody waits longer for that.
func tryAgain(memory *v1alpha1.Rollout, facts Facts, inVain bool) {
	asked := facts.Retry != "" && facts.Retry != memory.Retried
	memory.Retried = facts.Retry
	if memory.Failed == "" || memory.LastReady == "" {
		return
	}
	due := retryAt(*memory, facts.Interrupts)
	arrived := facts.Live == memory.LastReady && (facts.State == Settled || inVain)
	switch {
	case asked:
		memory.Tries = 0
	case !due.IsZero() && !facts.Now.Before(due) && arrived:
		memory.Tries++
	default:
		return
	}
	forgetFailure(memory)
}
