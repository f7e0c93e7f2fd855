// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/pods"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
)

const (
	server = v1alpha1.FailureCauseServer
	tenant = v1alpha1.FailureCauseTenant
)

// waits is a pod whose container is not started, for some time and after some
// restarts.
func waits(reason string, ago time.Duration, restarts int32) corev1.Pod {
	started := metav1.NewTime(noon.Add(-ago))
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "acme-1"}, Status: corev1.PodStatus{
		StartTime: &started,
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "apiserver", RestartCount: restarts,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
		}},
	}}
}

// ends is a pod whose container said something and ended.
func ends(code int32) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "acme-1"}, Status: corev1.PodStatus{
		ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: "it is another's"}},
		}},
	}}
}

func conditioned(kind corev1.PodConditionType, ago time.Duration) corev1.Pod {
	return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "acme-1"}, Status: corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: kind, Status: corev1.ConditionFalse, Message: "m", LastTransitionTime: metav1.NewTime(noon.Add(-ago))}},
	}}
}

func TestDiagnose(t *testing.T) {
	t.Parallel()
	quota := func(ago time.Duration) pods.Trouble {
		return pods.Trouble{Kind: pods.Unmade, Message: "pods cannot be made: exceeded quota", Since: noon.Add(-ago)}
	}
	pending := problem.Waiting("", "VolumePending", "the volume is not bound yet")
	unready := conditioned(corev1.ContainersReady, time.Hour)
	runs := func(ago time.Duration) corev1.Pod {
		pod := conditioned(corev1.ContainersReady, time.Hour)
		started := metav1.NewTime(noon.Add(-ago))
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}}}}
		return pod
	}
	for name, test := range map[string]struct {
		pods     []corev1.Pod
		creation pods.Trouble
		volume   *problem.Problem
		embedded bool
		want     Trouble
	}{
		"nothing is known":                 {want: Trouble{}},
		"starting":                         {pods: []corev1.Pod{waits("ContainerCreating", time.Hour, 0)}, want: Trouble{}},
		"crashed":                          {pods: []corev1.Pod{waits("CrashLoopBackOff", time.Hour, 2)}, want: Trouble{"pod acme-1: CrashLoopBackOff", server, false}},
		"crashes over and over":            {pods: []corev1.Pod{waits("CrashLoopBackOff", 0, 3)}, want: Trouble{"pod acme-1: CrashLoopBackOff", server, true}},
		"no image for a moment":            {pods: []corev1.Pod{waits("ErrImagePull", time.Minute, 0)}, want: Trouble{"pod acme-1: ErrImagePull", server, false}},
		"no image":                         {pods: []corev1.Pod{waits("ImagePullBackOff", 61*time.Second, 0)}, want: Trouble{"pod acme-1: ImagePullBackOff", server, true}},
		"no such name of an image":         {pods: []corev1.Pod{waits("InvalidImageName", 0, 0)}, want: Trouble{"pod acme-1: InvalidImageName", server, false}},
		"no Secret":                        {pods: []corev1.Pod{waits("CreateContainerConfigError", 61*time.Second, 0)}, want: Trouble{"pod acme-1: CreateContainerConfigError", tenant, true}},
		"no node for a moment":             {pods: []corev1.Pod{conditioned(corev1.PodScheduled, time.Minute)}, want: Trouble{"pod acme-1: not scheduled: m", tenant, false}},
		"no node":                          {pods: []corev1.Pod{conditioned(corev1.PodScheduled, 61*time.Second)}, want: Trouble{"pod acme-1: not scheduled: m", tenant, true}},
		"quota":                            {creation: quota(time.Second), want: Trouble{"pods cannot be made: exceeded quota", tenant, false}},
		"quota, for long":                  {creation: quota(time.Hour), want: Trouble{"pods cannot be made: exceeded quota", tenant, true}},
		"quota for the second pod":         {pods: []corev1.Pod{waits("ContainerCreating", 0, 0)}, creation: quota(0), want: Trouble{"pods cannot be made: exceeded quota", tenant, false}},
		"crashes, and quota":               {pods: []corev1.Pod{waits("CrashLoopBackOff", 0, 0)}, creation: quota(0), want: Trouble{"pod acme-1: CrashLoopBackOff", server, false}},
		"no volume":                        {pods: []corev1.Pod{waits("ContainerCreating", time.Hour, 0)}, volume: pending, embedded: true, want: Trouble{"the volume is not bound yet", tenant, false}},
		"loads its models":                 {pods: []corev1.Pod{runs(30 * time.Second)}, want: Trouble{"pod acme-1: runs and is not ready: its log says why", tenant, false}},
		"a foreign database":               {pods: []corev1.Pod{ends(foreignDatabase)}, want: Trouble{"pod acme-1: ended (exit code 3): it is another's", v1alpha1.FailureCauseForeignDatabase, true}},
		"another end":                      {pods: []corev1.Pod{ends(1)}, want: Trouble{"pod acme-1: ended (exit code 1): it is another's", server, false}},
		"no database":                      {pods: []corev1.Pod{runs(31 * time.Second)}, want: Trouble{"pod acme-1: runs and is not ready: its log says why", v1alpha1.FailureCauseDatabase, false}},
		"no file, for long":                {pods: []corev1.Pod{runs(time.Hour)}, embedded: true, want: Trouble{"pod acme-1: runs and is not ready: its log says why", server, false}},
		"who knows since when":             {pods: []corev1.Pod{unready}, want: Trouble{"pod acme-1: runs and is not ready: its log says why", tenant, false}},
		"not ready on a file of its own":   {pods: []corev1.Pod{unready}, embedded: true, want: Trouble{"pod acme-1: runs and is not ready: its log says why", server, false}},
		"one has no database, one crashes": {pods: []corev1.Pod{unready, waits("CrashLoopBackOff", 0, 1)}, want: Trouble{"pod acme-1: CrashLoopBackOff", server, false}},
	} {
		got := Diagnose(Findings{Pods: test.pods, Creation: test.creation, Volume: test.volume, Embedded: test.embedded, Now: noon})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
