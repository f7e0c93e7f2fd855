// SPDX-License-Identifier: Apache-2.0

// Package conditions summarizes a reconcile in the conditions Ready, Reconciling and
// Stalled, following the kstatus conventions, and determines the events to record. It is
// shared by all controllers. Each controller defines the other conditions of its kind.
package conditions

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// ReasonSuspended is the reason of Ready while an object is suspended.
const ReasonSuspended = "Suspended"

// Set sets a condition for a generation of an object.
func Set(conditions *[]metav1.Condition, generation int64, now time.Time, kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type:               kind,
		Status:             status,
		ObservedGeneration: generation,
		LastTransitionTime: metav1.NewTime(now),
		Reason:             reason,
		Message:            message,
	})
}

// TransientGracePeriod is how long a ready object keeps its Ready condition while the
// operator encounters transient errors.
const TransientGracePeriod = 2 * time.Minute

// SetReady sets Ready, Reconciling and Stalled in an object's conditions, for its
// generation. It reports the worst failure or, if worst is nil, the given reason and
// message. As kstatus requires, at most one of Reconciling and Stalled is present, and
// neither if the object is healthy.
func SetReady(conditions *[]metav1.Condition, generation int64, now time.Time, worst error, reason, message string) {
	mark := func(kind string, status metav1.ConditionStatus, reason, message string) {
		Set(conditions, generation, now, kind, status, reason, message)
	}
	found := problem.FromError(worst)
	switch {
	case worst == nil:
		mark(v1alpha1.ConditionReady, metav1.ConditionTrue, reason, message)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionReconciling)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
	case found == nil:
		setTransientError(conditions, generation, now, worst)
	case found.Stalled:
		mark(v1alpha1.ConditionReady, metav1.ConditionFalse, found.Reason, found.Message)
		mark(v1alpha1.ConditionStalled, metav1.ConditionTrue, found.Reason, found.Message)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionReconciling)
	default:
		mark(v1alpha1.ConditionReady, metav1.ConditionFalse, found.Reason, found.Message)
		mark(v1alpha1.ConditionReconciling, metav1.ConditionTrue, found.Reason, found.Message)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
	}
}

// setTransientError reports a transient error in Reconciling. A true Ready condition
// keeps its value until the errors have lasted for TransientGracePeriod.
func setTransientError(conditions *[]metav1.Condition, generation int64, now time.Time, err error) {
	Set(conditions, generation, now, v1alpha1.ConditionReconciling, metav1.ConditionTrue, problem.ReasonTransient, err.Error())
	meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
	since := meta.FindStatusCondition(*conditions, v1alpha1.ConditionReconciling).LastTransitionTime
	if meta.IsStatusConditionTrue(*conditions, v1alpha1.ConditionReady) && now.Sub(since.Time) < TransientGracePeriod {
		return
	}
	Set(conditions, generation, now, v1alpha1.ConditionReady, metav1.ConditionUnknown, problem.ReasonTransient, err.Error())
}

// An Event is an event to record: Normal or Warning, with a reason and a message.
type Event struct{ Type, Reason, Message string }

// TransitionEvents returns the events for the difference between two sets of conditions:
// one event if the object became ready or stalled, or is waiting for a different reason.
// It returns no event for an unchanged problem.
func TransitionEvents(before, after []metav1.Condition) []Event {
	was, is := meta.FindStatusCondition(before, v1alpha1.ConditionReady), meta.FindStatusCondition(after, v1alpha1.ConditionReady)
	if is == nil {
		return nil
	}
	wasStalled, isStalled := meta.IsStatusConditionTrue(before, v1alpha1.ConditionStalled), meta.IsStatusConditionTrue(after, v1alpha1.ConditionStalled)
	same := was != nil && was.Status == is.Status && was.Reason == is.Reason && wasStalled == isStalled
	if same && (!isStalled || was.Message == is.Message) {
		return nil
	}
	if isStalled {
		return []Event{{corev1.EventTypeWarning, is.Reason, is.Message}}
	}
	return []Event{{corev1.EventTypeNormal, is.Reason, is.Message}}
}
