// SPDX-License-Identifier: Apache-2.0

// Package status summarizes a reconcile in an Instance's conditions, following the
// kstatus conventions, and decides which events to emit.
package status

import (
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

// Reasons of Ready and Available for a healthy Instance.
const (
	ReasonReady      = "Ready"
	ReasonHibernated = "Hibernated"
	ReasonSuspended  = "Suspended"
	ReasonServing    = "Serving"
	ReasonNoPodReady = "NoPodReady"
	// ReasonFieldsOverridden is the reason of the Drifted condition.
	ReasonFieldsOverridden = "FieldsOverridden"
)

// SetCondition sets a condition of an Instance for its current generation.
func SetCondition(instance *v1alpha1.Instance, now time.Time, kind string, status metav1.ConditionStatus, reason, message string) {
	setCondition(&instance.Status.Conditions, instance.Generation, now, kind, status, reason, message)
}

func setCondition(conditions *[]metav1.Condition, generation int64, now time.Time, kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type:               kind,
		Status:             status,
		ObservedGeneration: generation,
		LastTransitionTime: metav1.NewTime(now),
		Reason:             reason,
		Message:            message,
	})
}

// transientGracePeriod is how long a ready Instance keeps its Ready condition while the
// operator encounters transient errors.
const transientGracePeriod = 2 * time.Minute

// Summarize sets Ready, Reconciling and Stalled from the worst failure of the phases.
func Summarize(instance *v1alpha1.Instance, now time.Time, failures []error) {
	instance.Status.ObservedGeneration = instance.Generation
	for _, failure := range failures {
		if found := problem.FromError(failure); found != nil && found.Condition != "" {
			SetCondition(instance, now, found.Condition, metav1.ConditionFalse, found.Reason, found.Message)
		}
	}
	reason, message := readyReason(instance)
	SetReady(&instance.Status.Conditions, instance.Generation, now, problem.Worst(failures), reason, message)
}

// SetReady sets Ready, Reconciling and Stalled in an object's conditions, for its
// generation: from the worst failure, or else from the given reason and message. As
// kstatus requires, at most one of Reconciling and Stalled is present, and neither if
// the object is healthy.
func SetReady(conditions *[]metav1.Condition, generation int64, now time.Time, worst error, reason, message string) {
	mark := func(kind string, status metav1.ConditionStatus, reason, message string) {
		setCondition(conditions, generation, now, kind, status, reason, message)
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
// keeps its value until the errors have lasted for transientGracePeriod.
func setTransientError(conditions *[]metav1.Condition, generation int64, now time.Time, err error) {
	setCondition(conditions, generation, now, v1alpha1.ConditionReconciling, metav1.ConditionTrue, problem.ReasonTransient, err.Error())
	meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
	since := meta.FindStatusCondition(*conditions, v1alpha1.ConditionReconciling).LastTransitionTime
	if meta.IsStatusConditionTrue(*conditions, v1alpha1.ConditionReady) && now.Sub(since.Time) < transientGracePeriod {
		return
	}
	setCondition(conditions, generation, now, v1alpha1.ConditionReady, metav1.ConditionUnknown, problem.ReasonTransient, err.Error())
}

func readyReason(instance *v1alpha1.Instance) (reason, message string) {
	if instance.Spec.Hibernate {
		return ReasonHibernated, "hibernated as specified: no pods run and no requests are served; the data is kept"
	}
	return ReasonReady, "running as specified"
}

// SetSuspended reports that spec changes are on hold and that the Instance otherwise
// keeps running. failures are those of the maintenance phases.
func SetSuspended(instance *v1alpha1.Instance, now time.Time, failures []error) {
	Summarize(instance, now, failures)
	message := "suspended: spec changes are not applied"
	ready := meta.FindStatusCondition(instance.Status.Conditions, v1alpha1.ConditionReady)
	if len(failures) > 0 {
		message += "; " + problem.Worst(failures).Error()
	}
	SetCondition(instance, now, v1alpha1.ConditionReady, ready.Status, ReasonSuspended, message)
	meta.RemoveStatusCondition(&instance.Status.Conditions, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(&instance.Status.Conditions, v1alpha1.ConditionStalled)
}

// SetDrifted reports the objects whose fields another writer overrides. The messages
// come in a stable order.
func SetDrifted(instance *v1alpha1.Instance, now time.Time, divergences []string) {
	if len(divergences) == 0 {
		meta.RemoveStatusCondition(&instance.Status.Conditions, v1alpha1.ConditionDrifted)
		return
	}
	message := strings.Join(divergences, "; ")
	if len(message) > maxMessageLength {
		message = strings.ToValidUTF8(message[:maxMessageLength], "") + " and more"
	}
	SetCondition(instance, now, v1alpha1.ConditionDrifted, metav1.ConditionTrue, ReasonFieldsOverridden, message)
}

// maxMessageLength keeps a condition's message within the API's limit and readable.
const maxMessageLength = 2000

// ObservePods reports the existing pods, whether or not they match the spec.
func ObservePods(instance *v1alpha1.Instance, now time.Time, deployment *appsv1.Deployment) {
	instance.Status.Replicas, instance.Status.ReadyReplicas = 0, 0
	if deployment != nil {
		instance.Status.Replicas = deployment.Status.Replicas
		instance.Status.ReadyReplicas = deployment.Status.ReadyReplicas
	}
	switch {
	case deployment != nil && deployment.Status.AvailableReplicas > 0:
		SetCondition(instance, now, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ReasonServing, "at least one pod is available")
	case instance.Spec.Hibernate:
		SetCondition(instance, now, v1alpha1.ConditionAvailable, metav1.ConditionFalse, ReasonHibernated, "hibernated: no pods run")
	default:
		SetCondition(instance, now, v1alpha1.ConditionAvailable, metav1.ConditionFalse, ReasonNoPodReady, "no pod is available")
	}
}

// ModelIDs returns the ids of models, separated by commas.
func ModelIDs(models []v1alpha1.Model) string {
	ids := make([]string, len(models))
	for i, model := range models {
		ids[i] = model.ID
	}
	return strings.Join(ids, ",")
}

// An Event is an event to record: Normal or Warning, with a reason and a message.
type Event struct{ Type, Reason, Message string }

// TransitionEvents returns the events for the difference between two sets of conditions:
// one event if the Instance became ready, stalled, or waits for something else. An
// unchanged problem returns none.
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
