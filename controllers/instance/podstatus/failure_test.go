// SPDX-License-Identifier: Apache-2.0

package podstatus

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var noon = metav1.NewTime(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))

func newPod(status corev1.PodStatus) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "acme-1"}, Status: status}
}

// podWithContainer returns a pod whose single container has a given status.
func podWithContainer(status corev1.ContainerStatus) corev1.Pod {
	status.Name = "apiserver"
	return newPod(corev1.PodStatus{Phase: corev1.PodRunning, StartTime: &noon, ContainerStatuses: []corev1.ContainerStatus{status}})
}

func waitingPod(reason, message string) corev1.Pod {
	return podWithContainer(corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}})
}

func terminatedState(code int32, reason string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}}
}

func TestFindFailure(t *testing.T) {
	t.Parallel()
	unscheduled := newPod(corev1.PodStatus{Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available", LastTransitionTime: noon},
	}})
	crashing := waitingPod("CrashLoopBackOff", "back-off 5m0s")
	crashing.Status.ContainerStatuses[0].RestartCount = 4
	crashing.Status.ContainerStatuses[0].LastTerminationState = terminatedState(2, "Error")
	unready := podWithContainer(corev1.ContainerStatus{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	unready.Status.Conditions = []corev1.PodCondition{{Type: corev1.ContainersReady, Status: corev1.ConditionFalse}}
	restartedOnce, restartedOften, healthy, startedLater := unready.DeepCopy(), unready.DeepCopy(), unready.DeepCopy(), unready.DeepCopy()
	startedLater.Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(noon.Add(time.Minute))
	restartedOnce.Status.ContainerStatuses[0].RestartCount = 1
	restartedOften.Status.ContainerStatuses[0].RestartCount = 3
	restartedOften.Status.ContainerStatuses[0].LastTerminationState = terminatedState(137, "OOMKilled")
	healthy.Status.Conditions[0].Status = corev1.ConditionTrue
	healthy.Status.ContainerStatuses[0].Ready = true
	healthy.Status.ContainerStatuses[0].RestartCount = 9
	initializing := waitingPod("PodInitializing", "")
	initializing.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "restore", State: terminatedState(3, "Error")}}
	for name, test := range map[string]struct {
		pods []corev1.Pod
		want Failure
	}{
		"none":          {nil, Failure{}},
		"starting":      {[]corev1.Pod{waitingPod("ContainerCreating", "")}, Failure{}},
		"well":          {[]corev1.Pod{*healthy}, Failure{}},
		"succeeded":     {[]corev1.Pod{podWithContainer(corev1.ContainerStatus{State: terminatedState(0, "Completed")})}, Failure{}},
		"not scheduled": {[]corev1.Pod{unscheduled}, Failure{Kind: Unschedulable, Message: "pod acme-1: not scheduled: 0/1 nodes are available", Since: noon.Time}},
		"crashing":      {[]corev1.Pod{{}, crashing}, Failure{Kind: Crashing, Message: "pod acme-1: CrashLoopBackOff back-off 5m0s (exit code 2)", Restarts: 4, ExitCode: 2, Since: noon.Time}},
		"said why": {[]corev1.Pod{podWithContainer(corev1.ContainerStatus{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error", Message: "it is another's\n"},
		}})}, Failure{Kind: Crashing, Message: "pod acme-1: terminated (exit code 3): it is another's", ExitCode: 3, Since: noon.Time}},
		"just crashed": {[]corev1.Pod{podWithContainer(corev1.ContainerStatus{State: terminatedState(1, "Error")})}, Failure{Kind: Crashing, Message: "pod acme-1: terminated (exit code 1)", ExitCode: 1, Since: noon.Time}},
		"killed for its memory": {[]corev1.Pod{podWithContainer(corev1.ContainerStatus{State: terminatedState(137, "OOMKilled")})},
			Failure{Kind: Crashing, Message: "pod acme-1: terminated (exit code 137, OOMKilled)", ExitCode: 137, Since: noon.Time}},
		"runs until it crashes again": {[]corev1.Pod{*restartedOften}, Failure{Kind: Crashing, Message: "pod acme-1: restarted 3 times (exit code 137, OOMKilled)", Restarts: 3, ExitCode: 137, Since: noon.Time}},
		"cannot be run":               {[]corev1.Pod{waitingPod("RunContainerError", "no such file\nand more")}, Failure{Kind: Crashing, Message: "pod acme-1: RunContainerError no such file", Since: noon.Time}},
		"not ready":                   {[]corev1.Pod{unready}, Failure{Kind: Unready, Message: "pod acme-1: running but not ready: check the container log", Since: noon.Time}},
		"not ready, since it runs":    {[]corev1.Pod{*startedLater}, Failure{Kind: Unready, Message: "pod acme-1: running but not ready: check the container log", Since: noon.Add(time.Minute)}},
		"not ready, the older of two": {[]corev1.Pod{*startedLater, unready}, Failure{Kind: Unready, Message: "pod acme-1: running but not ready: check the container log", Since: noon.Time}},
		"not ready, after a restart":  {[]corev1.Pod{*restartedOnce}, Failure{Kind: Unready, Message: "pod acme-1: running but not ready: check the container log", Since: noon.Time}},
		"no image":                    {[]corev1.Pod{waitingPod("ImagePullBackOff", "not found")}, Failure{Kind: ImageUnavailable, Message: "pod acme-1: ImagePullBackOff not found", Since: noon.Time}},
		"no such name of an image":    {[]corev1.Pod{waitingPod("InvalidImageName", "")}, Failure{Kind: ImageUnavailable, Message: "pod acme-1: InvalidImageName", Since: noon.Time}},
		"no Secret":                   {[]corev1.Pod{waitingPod("CreateContainerConfigError", `secret "acme-db" not found`)}, Failure{Kind: Misconfigured, Message: `pod acme-1: CreateContainerConfigError secret "acme-db" not found`, Since: noon.Time}},
		"an init container ends":      {[]corev1.Pod{initializing}, Failure{Kind: Crashing, Message: "pod acme-1: terminated (exit code 3)", ExitCode: 3, Since: noon.Time}},
		"the one that says most":      {[]corev1.Pod{unready, unscheduled, crashing, waitingPod("ErrImagePull", "")}, Failure{Kind: Crashing, Message: "pod acme-1: CrashLoopBackOff back-off 5m0s (exit code 2)", Restarts: 4, ExitCode: 2, Since: noon.Time}},
	} {
		got := FindFailure(test.pods)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if Describe(test.pods) != got.Message {
			t.Errorf("%s: Describe returned %q", name, Describe(test.pods))
		}
	}
}
