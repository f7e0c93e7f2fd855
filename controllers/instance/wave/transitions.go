// SPDX-License-Identifier: Apache-2.0

package wave

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/conditions"
)

// Reasons of events that are not condition reasons.
const (
	reasonServerCanary = "ServerCanary"
	reasonServerPassed = "ServerPassed"
	reasonServerHalted = "ServerHalted"
)

// Transitions returns the events for a change of an Instance's conditions: the Instance
// became the canary, passed its soak as the canary, or halted the rollout. Waiting for
// other Instances is not an event.
func Transitions(before, after []metav1.Condition) []conditions.Event {
	previous, current := serverReason(before), serverReason(after)
	if previous == current {
		return nil
	}
	message := ""
	if condition := meta.FindStatusCondition(after, v1alpha1.ConditionServerCurrent); condition != nil {
		message = condition.Message
	}
	switch {
	case current == ReasonCanary:
		return []conditions.Event{{Type: corev1.EventTypeNormal, Reason: reasonServerCanary, Message: message}}
	case current == ReasonCurrent && (previous == ReasonSoaking || previous == ReasonCanary):
		return []conditions.Event{{Type: corev1.EventTypeNormal, Reason: reasonServerPassed, Message: message + ": the canary has soaked, and the rollout continues"}}
	case current == ReasonFailed:
		return []conditions.Event{{Type: corev1.EventTypeWarning, Reason: reasonServerHalted, Message: message}}
	}
	return nil
}

func serverReason(conditions []metav1.Condition) Reason {
	if condition := meta.FindStatusCondition(conditions, v1alpha1.ConditionServerCurrent); condition != nil {
		return Reason(condition.Reason)
	}
	return ""
}
