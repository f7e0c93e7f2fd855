// SPDX-License-Identifier: Apache-2.0

// Package status sums up in an Instance's conditions how a visit ended, as kstatus
// reads them, and says which events that is worth.
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

// Reasons of Ready and Available when nothing is wrong.
const (
	ReasonReady      = "Ready"
	ReasonHibernated = "Hibernated"
	ReasonSuspended  = "Suspended"
	ReasonServing    = "Serving"
	ReasonNoPodReady = "NoPodReady"
	// ReasonHeldOtherwise is that of Diverged.
	ReasonHeldOtherwise = "HeldOtherwise"
)

// Mark sets a condition of an Instance as of its generation and a time.
func Mark(instance *v1alpha1.Instance, now time.Time, kind string, status metav1.ConditionStatus, reason, message string) {
	set(&instance.Status.Conditions, instance.Generation, now, kind, status, reason, message)
}

func set(conditions *[]metav1.Condition, generation int64, now time.Time, kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type:               kind,
		Status:             status,
		ObservedGeneration: generation,
		LastTransitionTime: metav1.NewTime(now),
		Reason:             reason,
		Message:            message,
	})
}

// transientGrace is how long an Instance that was ready is believed to be so
// while the operator meets transient errors.
const transientGrace = 2 * time.Minute

// Summarize says in Ready, Reconciling and Stalled how a visit ended, by the
// worst of what kept its steps from coming to their end.
func Summarize(instance *v1alpha1.Instance, now time.Time, failures []error) {
	instance.Status.ObservedGeneration = instance.Generation
	for _, failure := range failures {
		if found := problem.Of(failure); found != nil && found.Condition != "" {
			Mark(instance, now, found.Condition, metav1.ConditionFalse, found.Reason, found.Message)
		}
	}
	reason, message := readiness(instance)
	Conclude(&instance.Status.Conditions, instance.Generation, now, problem.Worst(failures), reason, message)
}

// Conclude says in Ready, Reconciling and Stalled of an object's conditions how a
// visit ended, as of its generation: by the worst of what was met, else by why it
// is ready. Of Reconciling and Stalled at most one is there, and none when all is
// well, as kstatus reads them.
func Conclude(conditions *[]metav1.Condition, generation int64, now time.Time, worst error, reason, message string) {
	mark := func(kind string, status metav1.ConditionStatus, reason, message string) {
		set(conditions, generation, now, kind, status, reason, message)
	}
	found := problem.Of(worst)
	switch {
	case worst == nil:
		mark(v1alpha1.ConditionReady, metav1.ConditionTrue, reason, message)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionReconciling)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
	case found == nil:
		meetAccident(conditions, generation, now, worst)
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

// meetAccident says that a transient error was met. Ready says what was known
// before, until the errors have lasted for transientGrace.
func meetAccident(conditions *[]metav1.Condition, generation int64, now time.Time, err error) {
	set(conditions, generation, now, v1alpha1.ConditionReconciling, metav1.ConditionTrue, problem.ReasonTransient, err.Error())
	meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
	since := meta.FindStatusCondition(*conditions, v1alpha1.ConditionReconciling).LastTransitionTime
	if meta.IsStatusConditionTrue(*conditions, v1alpha1.ConditionReady) && now.Sub(since.Time) < transientGrace {
		return
	}
	set(conditions, generation, now, v1alpha1.ConditionReady, metav1.ConditionUnknown, problem.ReasonTransient, err.Error())
}

func readiness(instance *v1alpha1.Instance) (reason, message string) {
	if instance.Spec.Hibernate {
		return ReasonHibernated, "no pods run; the data is kept"
	}
	return ReasonReady, "serves as the spec says"
}

// Suspend says that changes of the spec wait, and how far what runs goes on:
// failures are what kept that from being observed or renewed.
func Suspend(instance *v1alpha1.Instance, now time.Time, failures []error) {
	Summarize(instance, now, failures)
	message := "suspended: changes of the spec wait"
	ready := meta.FindStatusCondition(instance.Status.Conditions, v1alpha1.ConditionReady)
	if len(failures) > 0 {
		message += "; " + problem.Worst(failures).Error()
	}
	Mark(instance, now, v1alpha1.ConditionReady, ready.Status, ReasonSuspended, message)
	meta.RemoveStatusCondition(&instance.Status.Conditions, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(&instance.Status.Conditions, v1alpha1.ConditionStalled)
}

// Diverge says which objects somebody holds otherwise than they are sent. They
// say so themselves, in a fixed order.
func Diverge(instance *v1alpha1.Instance, now time.Time, divergences []string) {
	if len(divergences) == 0 {
		meta.RemoveStatusCondition(&instance.Status.Conditions, v1alpha1.ConditionDiverged)
		return
	}
	message := strings.Join(divergences, "; ")
	if len(message) > longestMessage {
		message = strings.ToValidUTF8(message[:longestMessage], "") + " and more"
	}
	Mark(instance, now, v1alpha1.ConditionDiverged, metav1.ConditionTrue, ReasonHeldOtherwise, message)
}

// longestMessage keeps a condition within what the API takes and people read.
const longestMessage = 2000

// ObservePods reports the pods that there are, whether or not they are as the
// spec says.
func ObservePods(instance *v1alpha1.Instance, now time.Time, deployment *appsv1.Deployment) {
	instance.Status.Replicas, instance.Status.ReadyReplicas = 0, 0
	if deployment != nil {
		instance.Status.Replicas = deployment.Status.Replicas
		instance.Status.ReadyReplicas = deployment.Status.ReadyReplicas
	}
	switch {
	case deployment != nil && deployment.Status.AvailableReplicas > 0:
		Mark(instance, now, v1alpha1.ConditionAvailable, metav1.ConditionTrue, ReasonServing, "at least one pod serves")
	case instance.Spec.Hibernate:
		Mark(instance, now, v1alpha1.ConditionAvailable, metav1.ConditionFalse, ReasonHibernated, "no pods run")
	default:
		Mark(instance, now, v1alpha1.ConditionAvailable, metav1.ConditionFalse, ReasonNoPodReady, "no pod serves")
	}
}

// ModelIDs gives the ids of models in one line.
func ModelIDs(models []v1alpha1.Model) string {
	ids := make([]string, len(models))
	for i, model := range models {
		ids[i] = model.ID
	}
	return strings.Join(ids, ",")
}

// A Note is an event to be written: Normal or Warning, with a reason and a
// message.
type Note struct{ Type, Reason, Message string }

// Transitions are the events between two statuses: one when the Instance became
// ready, stalled, or started to wait for something else. The same trouble again
// is none.
func Transitions(before, after []metav1.Condition) []Note {
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
		return []Note{{corev1.EventTypeWarning, is.Reason, is.Message}}
	}
	return []Note{{corev1.EventTypeNormal, is.Reason, is.Message}}
}
