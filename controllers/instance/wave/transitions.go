// SPDX-License-Identifier: Apache-2.0

package wave

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/conditions"
)

// Reasons of events that are not reasons of conditions.
const (
	reasonServerCanary = "ServerCanary"
	reasonServerPassed = "ServerPassed"
	reasonServerHalted = "ServerHalted"
)

// Transitions returns the events for a change from one status of an Instance to the
// next: it became the canary, it completed its soak as canary, or it halted the rollout.
// Waiting for other Instances is not an event.
func Transitions(before, after []metav1.Condition) []conditions.Event {
	was, is := reasonOf(before), reasonOf(after)
	if was == is {
		return nil
	}
	message := ""
	if told := meta.FindStatusCondition(after, v1alpha1.ConditionServerUpToDate); told != nil {
		message = told.Message
	}
	switch {
	case is == ReasonCanary:
		return []conditions.Event{{Type: corev1.EventTypeNormal, Reason: reasonServerCanary, Message: message}}
	case is == ReasonCurrent && (was == ReasonSoaking || was == ReasonCanary):
		return []conditions.Event{{Type: corev1.EventTypeNormal, Reason: reasonServerPassed, Message: message + ": the canary has soaked, and the rollout continues"}}
	case is == ReasonFailed:
		return []conditions.Event{{Type: corev1.EventTypeWarning, Reason: reasonServerHalted, Message: message}}
	}
	return nil
}

func reasonOf(conditions []metav1.Condition) Reason {
	if told := meta.FindStatusCondition(conditions, v1alpha1.ConditionServerUpToDate); told != nil {
		return Reason(told.Reason)
	}
	return ""
}
