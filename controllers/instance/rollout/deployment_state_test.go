// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/anamnesis-dev/anamnesis/controllers/instance/podstatus"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

func TestDeploymentState(t *testing.T) {
	t.Parallel()
	exceeded := []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
		{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"},
	}
	for name, test := range map[string]struct {
		replicas *int32
		status   appsv1.DeploymentStatus
		want     State
	}{
		"settled":                 {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}, Complete},
		"replicas unset":          {nil, appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}, Complete},
		"none wanted":             {ptr.To[int32](0), appsv1.DeploymentStatus{ObservedGeneration: 2}, Complete},
		"not seen":                {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}, Progressing},
		"an overdue that was":     {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 1, Conditions: exceeded}, Progressing},
		"starting":                {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 2}, Progressing},
		"old pods are there":      {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 2, AvailableReplicas: 3}, Progressing},
		"not available":           {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 1}, Progressing},
		"asleep after a failure":  {ptr.To[int32](0), appsv1.DeploymentStatus{ObservedGeneration: 2, Conditions: exceeded}, Complete},
		"overdue before it began": {ptr.To[int32](1), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, Conditions: exceeded}, Progressing},
		"overdue for want of pods": {ptr.To[int32](1), appsv1.DeploymentStatus{ObservedGeneration: 2, Conditions: append(exceeded[:2:2], appsv1.DeploymentCondition{
			Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota",
		})}, DeadlineExceeded},
		"going to sleep": {ptr.To[int32](0), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1}, Progressing},
		"overdue":        {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 2, Conditions: exceeded}, DeadlineExceeded},
	} {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: appsv1.DeploymentSpec{Replicas: test.replicas, ProgressDeadlineSeconds: ptr.To[int32](420)}, Status: test.status}
		got, message := DeploymentState(deployment, "another")
		if got != test.want || (message == "") != (got == Complete) || got == DeadlineExceeded && !strings.HasSuffix(message, " within 7m0s") {
			t.Errorf("%s: got %v %q, want %v", name, got, message, test.want)
		}
	}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Generation: 2},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1, Conditions: exceeded},
	}
	for hash, want := range map[string]State{"a": Complete, "b": Progressing} {
		deployment.Spec.Template.Annotations = map[string]string{resources.TemplateHashAnnotation: hash}
		if got, message := DeploymentState(deployment, "a"); got != want {
			t.Errorf("unobserved generation with template %s: got %v %q", hash, got, message)
		}
	}
	deployment.Spec.Template.Annotations = map[string]string{resources.TemplateHashAnnotation: "a"}
	deployment.Spec.Replicas = ptr.To[int32](2)
	if got, message := DeploymentState(deployment, "a"); got != Progressing {
		t.Errorf("unobserved scaling: got %v %q", got, message)
	}
	if got, _ := DeploymentState(nil, ""); got != Absent {
		t.Errorf("without a Deployment: got %v, want Absent", got)
	}
}

func TestCreationFailure(t *testing.T) {
	t.Parallel()
	failure := func(status corev1.ConditionStatus) *appsv1.Deployment {
		return &appsv1.Deployment{Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Message: "progress"},
			{Type: appsv1.DeploymentReplicaFailure, Status: status, Message: "exceeded quota", LastTransitionTime: metav1.NewTime(noon)},
		}}}
	}
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		want       podstatus.Failure
	}{
		"no Deployment": {nil, podstatus.Failure{}},
		"a quota":       {failure(corev1.ConditionTrue), podstatus.Failure{Kind: podstatus.NotCreated, Message: "pods cannot be created: exceeded quota", Since: noon}},
		"none any more": {failure(corev1.ConditionFalse), podstatus.Failure{}},
	} {
		if got := CreationFailure(test.deployment); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}
