// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func waitingPod(reason, message string) corev1.Pod {
	pod := corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
		{Name: "apiserver", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}},
	}}}
	pod.Name = "acme-1"
	return pod
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	named := func(status corev1.PodStatus) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "acme-1"}, Status: status}
	}
	crashing := waitingPod("CrashLoopBackOff", "back-off 5m0s")
	crashing.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 2}
	for name, test := range map[string]struct {
		pods []corev1.Pod
		want string
	}{
		"none":     {nil, ""},
		"starting": {[]corev1.Pod{waitingPod("ContainerCreating", "")}, ""},
		"not scheduled": {[]corev1.Pod{named(corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available"},
		}})}, "pod acme-1: not scheduled: 0/1 nodes are available"},
		"crashing": {[]corev1.Pod{{}, crashing}, "pod acme-1: CrashLoopBackOff back-off 5m0s (exit code 2)"},
		"not ready": {[]corev1.Pod{named(corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.ContainersReady, Status: corev1.ConditionFalse, Message: "containers with unready status: [apiserver]"},
		}})}, "pod acme-1: runs and is not ready: its log says why"},
		"well": {[]corev1.Pod{named(corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
		}})}, ""},
	} {
		if got := Describe(test.pods); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
