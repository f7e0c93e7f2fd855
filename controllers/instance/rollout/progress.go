// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

// Reasons of Ready while pods are replaced.
const (
	ReasonProgressing = "RolloutProgressing"
	ReasonFailed      = "RolloutFailed"
)

// JudgeProgress says what is left of an Instance's rollout, or nil. trouble is
// what keeps pods from running, and volume what keeps the data from having a
// place, where that is known.
func JudgeProgress(instance types.NamespacedName, plan Plan, state State, message, trouble string, volume *problem.Problem) error {
	switch {
	case volume != nil && volume.Stalled:
		return volume
	case plan.Failed:
		return problem.Stalled("", ReasonFailed, "%s", failureMessage(instance, plan))
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

// failureMessage says what failed and what becomes of it. It is the same in every
// visit until something changes.
func failureMessage(instance types.NamespacedName, plan Plan) string {
	message := "the pods did not become ready in time"
	if plan.Memory.FailedBecause != "" {
		message += " (" + plan.Memory.FailedBecause + ")"
	}
	if !plan.PutBack {
		return message + " and go on trying: change the spec, or what it refers to"
	}
	message += ": those that were ready before are put back"
	if plan.InVain {
		message += ", and do not become ready either"
	}
	if !plan.RetryAt.IsZero() {
		message += "; it is tried again by itself after " + plan.RetryAt.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%s; to try at once, change the spec or run: kubectl annotate instance -n %s %s %s=$(date +%%s) --overwrite",
		message, instance.Namespace, instance.Name, v1alpha1.RetryAnnotation)
}
