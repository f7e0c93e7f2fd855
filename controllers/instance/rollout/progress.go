// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// Ready reasons while pods are replaced.
const (
	ReasonProgressing = "RolloutProgressing"
	ReasonFailed      = "RolloutFailed"
)

// CheckProgress returns a problem if an Instance's rollout is incomplete or has failed.
// podMessage, if not empty, explains why pods do not run, and volume, if not nil, why the
// volume is not bound.
func CheckProgress(instance types.NamespacedName, plan Plan, state State, message, podMessage string, volume *problem.Error) error {
	switch {
	case volume != nil && volume.Stalled:
		return volume
	case plan.Failed:
		return problem.Stalled("", ReasonFailed, "%s", failureMessage(instance, plan))
	case volume != nil && state != Complete:
		return volume
	case state == Complete:
		return nil
	}
	if podMessage != "" {
		message += ": " + podMessage
	}
	if state == DeadlineExceeded {
		return problem.Stalled("", ReasonFailed, "%s", message)
	}
	return problem.Waiting("", ReasonProgressing, "%s", message)
}

// failureMessage describes the failure and what the operator does about it. The message
// is stable across reconciles until something changes.
func failureMessage(instance types.NamespacedName, plan Plan) string {
	message := "the pods did not become ready in time"
	if plan.Status.FailureMessage != "" {
		message += " (" + plan.Status.FailureMessage + ")"
	}
	if !plan.RollBack {
		return message + " and keep restarting: fix the spec or the objects it references"
	}
	message += ": rolled back to the last ready pods"
	if plan.RollbackFailed {
		message += ", which did not become ready either"
	}
	if !plan.RetryAt.IsZero() {
		message += "; the next retry is after " + plan.RetryAt.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%s; to retry now, change the spec or run: kubectl annotate instance -n %s %s %s=$(date +%%s) --overwrite",
		message, instance.Namespace, instance.Name, v1alpha1.RetryAnnotation)
}
