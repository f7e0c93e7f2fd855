// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

// Reasons of Ready while pods are replaced.
const (
	ReasonProgressing = "RolloutProgressing"
	ReasonFailed      = "RolloutFailed"
)

// JudgeProgress says what is left of a rollout, or nil. trouble is what keeps
// pods from running, and volume what keeps the data from having a place, where
// that is known.
func JudgeProgress(plan Plan, state State, message, trouble string, volume *problem.Problem) error {
	switch {
	case volume != nil && volume.Stalled:
		return volume
	case plan.Failed:
		return problem.Stalled("", ReasonFailed, "%s", failureMessage(plan))
	case volume != nil && state != Settled:
		return volume
	case state == Settled:
		return nil
	}
	if trouble != "" {
		message += ": " + trouble
	}
	if state == Overdue {
		return problem.Stalled("", ReasonFailed, "%s", message)
	}
	return problem.Waiting("", ReasonProgressing, "%s", message)
}

func failureMessage(plan Plan) string {
	message := "the pods did not become ready in time"
	if plan.Memory.FailedBecause != "" {
		message += " (" + plan.Memory.FailedBecause + ")"
	}
	if plan.PutBack {
		return message + ": those that were ready before are put back; change the spec to try again"
	}
	return message + ": change the spec, or what it refers to"
}
