// SPDX-License-Identifier: Apache-2.0

package wave

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
)

// Reasons of events that are no reasons of conditions.
const (
	reasonServerCanary = "ServerCanary"
	reasonServerPassed = "ServerPassed"
	reasonServerHalted = "ServerHalted"
)

// Transitions are the events between two statuses of an Instance: one when it
// became the canary, when it has been that for long enough, and when the wave
// halts because of it. That others wait for it is none.
func Transitions(before, after []metav1.Condition) []status.Note {
	was, is := reasonOf(before), reasonOf(after)
	if was == is {
		return nil
	}
	message := ""
	if told := meta.FindStatusCondition(after, v1alpha1.ConditionServerCurrent); told != nil {
		message = told.Message
	}
	switch {
	case is == ReasonCanary:
		return []status.Note{{Type: corev1.EventTypeNormal, Reason: reasonServerCanary, Message: message}}
	case is == ReasonCurrent && (was == ReasonSoaking || was == ReasonCanary):
		return []status.Note{{Type: corev1.EventTypeNormal, Reason: reasonServerPassed, Message: message + ": it was ready with it for long enough, and the others follow"}}
	case is == ReasonFailed:
		return []status.Note{{Type: corev1.EventTypeWarning, Reason: reasonServerHalted, Message: message}}
	}
	return nil
}

func reasonOf(conditions []metav1.Condition) Reason {
	if told := meta.FindStatusCondition(conditions, v1alpha1.ConditionServerCurrent); told != nil {
		return Reason(told.Reason)
	}
	return ""
}
