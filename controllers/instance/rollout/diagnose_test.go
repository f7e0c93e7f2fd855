// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/podstatus"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

const (
	serverCause   = v1alpha1.FailureReasonServer
	instanceCause = v1alpha1.FailureReasonInstance
)

// waitingPod returns a pod whose container has been waiting since the pod started, with a
// number of restarts.
func waitingPod(reason string, age time.Duration, restarts int32) corev1.Pod {
	started := metav1.NewTime(noon.Add(-age))
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "acme-1"}, Status: corev1.PodStatus{
		StartTime: &started,
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "apiserver", RestartCount: restarts,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
		}},
	}}
}

// terminatedPod returns a pod whose container exited with a message.
func terminatedPod(code int32) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "acme-1"}, Status: corev1.PodStatus{
		ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: "it is another's"}},
		}},
	}}
}

func podWithCondition(kind corev1.PodConditionType, age time.Duration) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "acme-1"}, Status: corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: kind, Status: corev1.ConditionFalse, Message: "m", LastTransitionTime: metav1.NewTime(noon.Add(-age))}},
	}}
}

func TestDiagnose(t *testing.T) {
	t.Parallel()
	quota := func(ago time.Duration) podstatus.Failure {
		return podstatus.Failure{Kind: podstatus.NotCreated, Message: "pods cannot be created: exceeded quota", Since: noon.Add(-ago)}
	}
	pending := problem.Waiting("", "VolumePending", "the volume is not bound yet")
	unready := podWithCondition(corev1.ContainersReady, time.Hour)
	runningFor := func(ago time.Duration) corev1.Pod {
		pod := podWithCondition(corev1.ContainersReady, time.Hour)
		started := metav1.NewTime(noon.Add(-ago))
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}}}}
		return pod
	}
	for name, test := range map[string]struct {
		pods     []corev1.Pod
		creation podstatus.Failure
		volume   *problem.Error
		embedded bool
		want     Diagnosis
	}{
		"nothing is known":                 {want: Diagnosis{}},
		"starting":                         {pods: []corev1.Pod{waitingPod("ContainerCreating", time.Hour, 0)}, want: Diagnosis{}},
		"crashed":                          {pods: []corev1.Pod{waitingPod("CrashLoopBackOff", time.Hour, 2)}, want: Diagnosis{"pod acme-1: CrashLoopBackOff", serverCause, false}},
		"crashes over and over":            {pods: []corev1.Pod{waitingPod("CrashLoopBackOff", 0, 3)}, want: Diagnosis{"pod acme-1: CrashLoopBackOff", serverCause, true}},
		"no image for a moment":            {pods: []corev1.Pod{waitingPod("ErrImagePull", time.Minute, 0)}, want: Diagnosis{"pod acme-1: ErrImagePull", serverCause, false}},
		"no image":                         {pods: []corev1.Pod{waitingPod("ImagePullBackOff", 61*time.Second, 0)}, want: Diagnosis{"pod acme-1: ImagePullBackOff", serverCause, true}},
		"no such name of an image":         {pods: []corev1.Pod{waitingPod("InvalidImageName", 0, 0)}, want: Diagnosis{"pod acme-1: InvalidImageName", serverCause, false}},
		"no Secret":                        {pods: []corev1.Pod{waitingPod("CreateContainerConfigError", 61*time.Second, 0)}, want: Diagnosis{"pod acme-1: CreateContainerConfigError", instanceCause, true}},
		"no node for a moment":             {pods: []corev1.Pod{podWithCondition(corev1.PodScheduled, time.Minute)}, want: Diagnosis{"pod acme-1: not scheduled: m", instanceCause, false}},
		"no node":                          {pods: []corev1.Pod{podWithCondition(corev1.PodScheduled, 61*time.Second)}, want: Diagnosis{"pod acme-1: not scheduled: m", instanceCause, true}},
		"quota":                            {creation: quota(time.Second), want: Diagnosis{"pods cannot be created: exceeded quota", instanceCause, false}},
		"quota, for long":                  {creation: quota(time.Hour), want: Diagnosis{"pods cannot be created: exceeded quota", instanceCause, true}},
		"quota for the second pod":         {pods: []corev1.Pod{waitingPod("ContainerCreating", 0, 0)}, creation: quota(0), want: Diagnosis{"pods cannot be created: exceeded quota", instanceCause, false}},
		"crashes, and quota":               {pods: []corev1.Pod{waitingPod("CrashLoopBackOff", 0, 0)}, creation: quota(0), want: Diagnosis{"pod acme-1: CrashLoopBackOff", serverCause, false}},
		"no volume":                        {pods: []corev1.Pod{waitingPod("ContainerCreating", time.Hour, 0)}, volume: pending, embedded: true, want: Diagnosis{"the volume is not bound yet", instanceCause, false}},
		"loads its models":                 {pods: []corev1.Pod{runningFor(30 * time.Second)}, want: Diagnosis{"pod acme-1: running but not ready: check the container log", instanceCause, false}},
		"a foreign database":               {pods: []corev1.Pod{terminatedPod(foreignDatabaseExitCode)}, want: Diagnosis{"pod acme-1: terminated (exit code 3): it is another's", v1alpha1.FailureReasonDatabaseOwnership, true}},
		"another end":                      {pods: []corev1.Pod{terminatedPod(1)}, want: Diagnosis{"pod acme-1: terminated (exit code 1): it is another's", serverCause, false}},
		"no database":                      {pods: []corev1.Pod{runningFor(31 * time.Second)}, want: Diagnosis{"pod acme-1: running but not ready: check the container log", v1alpha1.FailureReasonDatabase, false}},
		"no file, for long":                {pods: []corev1.Pod{runningFor(time.Hour)}, embedded: true, want: Diagnosis{"pod acme-1: running but not ready: check the container log", serverCause, false}},
		"who knows since when":             {pods: []corev1.Pod{unready}, want: Diagnosis{"pod acme-1: running but not ready: check the container log", instanceCause, false}},
		"not ready on a file of its own":   {pods: []corev1.Pod{unready}, embedded: true, want: Diagnosis{"pod acme-1: running but not ready: check the container log", serverCause, false}},
		"one has no database, one crashes": {pods: []corev1.Pod{unready, waitingPod("CrashLoopBackOff", 0, 1)}, want: Diagnosis{"pod acme-1: CrashLoopBackOff", serverCause, false}},
	} {
		got := Diagnose(Findings{Pods: test.pods, CreationFailure: test.creation, VolumePending: test.volume, Embedded: test.embedded, Now: noon})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
