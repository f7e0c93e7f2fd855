// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	reasonReady      = "Ready"
	reasonHibernated = "Hibernated"
	reasonSuspended  = "Suspended"
	reasonServing    = "Serving"
	reasonNoPodReady = "NoPodReady"
)

// mark sets a condition of the Instance as of this generation and now.
func (v *visit) mark(kind string, status metav1.ConditionStatus, reason, format string, arguments ...any) {
	mark(v.instance, v.began, kind, status, reason, fmt.Sprintf(format, arguments...))
}

func mark(instance *v1alpha1.Instance, now time.Time, kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&instance.Status.Conditions, metav1.Condition{
		Type:               kind,
		Status:             status,
		ObservedGeneration: instance.Generation,
		LastTransitionTime: metav1.NewTime(now),
		Reason:             reason,
		Message:            message,
	})
}

// summarize says in Ready, Reconciling and Stalled how a visit ended: nil,
// a problem, or an error that is transient. Of Reconciling and Stalled at most
// one is there, and none when all is well, as kstatus reads them.
func summarize(instance *v1alpha1.Instance, now time.Time, err error) {
	instance.Status.ObservedGeneration = instance.Generation
	found := asProblem(err)
	if found != nil && found.condition != "" {
		mark(instance, now, found.condition, metav1.ConditionFalse, found.reason, found.message)
	}
	conditions := &instance.Status.Conditions
	switch {
	case err == nil:
		reason, message := readiness(instance)
		mark(instance, now, v1alpha1.ConditionReady, metav1.ConditionTrue, reason, message)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionReconciling)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
	case found == nil:
		mark(instance, now, v1alpha1.ConditionReady, metav1.ConditionUnknown, reasonTransient, err.Error())
		mark(instance, now, v1alpha1.ConditionReconciling, metav1.ConditionTrue, reasonTransient, err.Error())
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
	case found.stalled:
		mark(instance, now, v1alpha1.ConditionReady, metav1.ConditionFalse, found.reason, found.message)
		mark(instance, now, v1alpha1.ConditionStalled, metav1.ConditionTrue, found.reason, found.message)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionReconciling)
	default:
		mark(instance, now, v1alpha1.ConditionReady, metav1.ConditionFalse, found.reason, found.message)
		mark(instance, now, v1alpha1.ConditionReconciling, metav1.ConditionTrue, found.reason, found.message)
		meta.RemoveStatusCondition(conditions, v1alpha1.ConditionStalled)
	}
}

func readiness(instance *v1alpha1.Instance) (reason, message string) {
	if instance.Spec.Hibernate {
		return reasonHibernated, "no pods run; the data is kept"
	}
	return reasonReady, "serves as the spec says"
}

// suspend says that nothing is reconciled. Ready keeps its value: what was so
// may well be so still.
func suspend(instance *v1alpha1.Instance, now time.Time) {
	instance.Status.ObservedGeneration = instance.Generation
	status := metav1.ConditionUnknown
	if ready := meta.FindStatusCondition(instance.Status.Conditions, v1alpha1.ConditionReady); ready != nil {
		status = ready.Status
	}
	mark(instance, now, v1alpha1.ConditionReady, status, reasonSuspended, "suspended: nothing is reconciled")
	meta.RemoveStatusCondition(&instance.Status.Conditions, v1alpha1.ConditionReconciling)
	meta.RemoveStatusCondition(&instance.Status.Conditions, v1alpha1.ConditionStalled)
}

// observePods reports the pods that there are, whether or not they are as the
// spec says.
func observePods(instance *v1alpha1.Instance, now time.Time, deployment *appsv1.Deployment) {
	instance.Status.Replicas, instance.Status.ReadyReplicas = 0, 0
	if deployment != nil {
		instance.Status.Replicas = deployment.Status.Replicas
		instance.Status.ReadyReplicas = deployment.Status.ReadyReplicas
	}
	switch {
	case deployment != nil && deployment.Status.AvailableReplicas > 0:
		mark(instance, now, v1alpha1.ConditionAvailable, metav1.ConditionTrue, reasonServing, "at least one pod serves")
	case instance.Spec.Hibernate:
		mark(instance, now, v1alpha1.ConditionAvailable, metav1.ConditionFalse, reasonHibernated, "no pods run")
	default:
		mark(instance, now, v1alpha1.ConditionAvailable, metav1.ConditionFalse, reasonNoPodReady, "no pod serves")
	}
}

// modelIDs gives the ids of models in one line.
func modelIDs(models []v1alpha1.Model) string {
	ids := make([]string, len(models))
	for i, model := range models {
		ids[i] = model.ID
	}
	return strings.Join(ids, ",")
}

// A note is an event to be written.
type note struct{ kind, reason, message string }

// transitions are the events between two statuses: one when the Instance became
// ready, stalled, or started to wait for something else. The same trouble again
// is none.
func transitions(before, after []metav1.Condition) []note {
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
		return []note{{corev1.EventTypeWarning, is.Reason, is.Message}}
	}
	return []note{{corev1.EventTypeNormal, is.Reason, is.Message}}
}
