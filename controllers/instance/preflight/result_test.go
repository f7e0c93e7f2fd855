// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem/problemtest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestMatches(t *testing.T) {
	t.Parallel()
	en, de := v1alpha1.Model{ID: "service-en", Version: "1"}, v1alpha1.Model{ID: "service-de", Version: "1"}
	unversioned := v1alpha1.Model{ID: "service-en"}
	for name, test := range map[string]struct {
		pinned, wanted []v1alpha1.Model
		want           bool
	}{
		"the same":          {[]v1alpha1.Model{en, de}, []v1alpha1.Model{en, de}, true},
		"a version open":    {[]v1alpha1.Model{en}, []v1alpha1.Model{unversioned}, true},
		"another default":   {[]v1alpha1.Model{en, de}, []v1alpha1.Model{de, en}, false},
		"one more":          {[]v1alpha1.Model{en}, []v1alpha1.Model{en, de}, false},
		"one less":          {[]v1alpha1.Model{en, de}, []v1alpha1.Model{en}, false},
		"another version":   {[]v1alpha1.Model{en}, []v1alpha1.Model{{ID: "service-en", Version: "2"}}, false},
		"nothing is pinned": {nil, []v1alpha1.Model{unversioned}, false},
		"pinned to nothing": {[]v1alpha1.Model{unversioned}, []v1alpha1.Model{unversioned}, false},
	} {
		if got := Matches(test.pinned, test.wanted); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// preflightJob returns a Job that started at noon and finished with a condition.
func preflightJob(condition batchv1.JobConditionType) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon)}}
	if condition != "" {
		job.Status.Conditions = []batchv1.JobCondition{
			{Type: batchv1.JobSuspended, Status: corev1.ConditionFalse},
			{Type: condition, Status: corev1.ConditionTrue, Message: "in a test"},
		}
	}
	return job
}

// terminatedPod returns a pod whose preflight container terminated with a message.
func terminatedPod(code int32, message string, after time.Duration) corev1.Pod {
	return corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
		{Name: "sidecar", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: "{}"}}},
		{Name: resources.PreflightContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Message: message, FinishedAt: metav1.NewTime(noon.Add(after)),
		}}},
	}}}
}

func waitingPod(reason, message string) corev1.Pod {
	pod := corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
		{Name: resources.PreflightContainer, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}},
	}}}
	pod.Name = "acme-1"
	return pod
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	const result = `{"models":[{"id":"service-en","version":"2026-11-21T00:00:00Z","conditions":60,"symptoms":200,"riskFactors":20}]}`
	wanted := []v1alpha1.Model{{ID: "service-en"}}
	for name, test := range map[string]struct {
		condition batchv1.JobConditionType
		pods      []corev1.Pod
		warning   string
		now       time.Time
		lost      bool
		problem   string
		message   string
	}{
		"an answer":       {condition: batchv1.JobComplete, pods: []corev1.Pod{terminatedPod(0, result, 0)}},
		"the newest":      {condition: batchv1.JobComplete, pods: []corev1.Pod{terminatedPod(0, result, 2), terminatedPod(1, `{"error":"x"}`, 1)}},
		"no such model":   {condition: batchv1.JobFailed, pods: []corev1.Pod{terminatedPod(1, `{"error":"no service-xx: there are service-en"}`, 0)}, problem: "stalled ModelsUnavailable", message: "no service-xx: there are service-en"},
		"no answer":       {condition: batchv1.JobFailed, pods: []corev1.Pod{terminatedPod(137, "", 0)}, problem: "stalled PreflightFailed", message: "exit code 137"},
		"babble":          {condition: batchv1.JobComplete, pods: []corev1.Pod{terminatedPod(0, "hello\nworld", 0)}, problem: "stalled PreflightFailed", message: "exit code 0 hello"},
		"another model":   {condition: batchv1.JobComplete, pods: []corev1.Pod{terminatedPod(0, `{"models":[{"id":"service-de","version":"1"}]}`, 0)}, problem: "stalled PreflightFailed", message: "service-de"},
		"no models":       {condition: batchv1.JobComplete, pods: []corev1.Pod{terminatedPod(0, `{}`, 0)}, problem: "stalled PreflightFailed"},
		"the pod is gone": {condition: batchv1.JobComplete, lost: true},
		"running":         {pods: []corev1.Pod{{}}, problem: "waiting PreflightRunning"},
		"not started":     {problem: "waiting PreflightRunning"},
		"cannot start":    {warning: "FailedCreate: quota", problem: "waiting PreflightRunning", message: "cannot run: FailedCreate: quota"},
		"cannot run":      {pods: []corev1.Pod{waitingPod("ErrImagePull", "not found\nmore")}, problem: "waiting PreflightRunning", message: "pod acme-1: ErrImagePull not found"},
		"overdue":         {pods: []corev1.Pod{waitingPod("ErrImagePull", "not found")}, now: noon.Add(7*time.Minute + time.Second), problem: "stalled ServerImageUnavailable", message: "ErrImagePull not found, for more than 7m0s"},
		"not made":        {warning: "FailedCreate: quota", now: noon.Add(8 * time.Minute), problem: "stalled PreflightTimedOut", message: "FailedCreate: quota"},
		"nearly overdue":  {pods: []corev1.Pod{waitingPod("ErrImagePull", "not found")}, now: noon.Add(7 * time.Minute), problem: "waiting PreflightRunning"},
	} {
		now := test.now
		if now.IsZero() {
			now = noon.Add(time.Second)
		}
		pinned, lost, err := Evaluate(preflightJob(test.condition), test.pods, test.warning, wanted, 7*time.Minute, now)
		problemtest.Expect(t, name, err, test.problem)
		if lost != test.lost {
			t.Errorf("%s: got lost %v", name, lost)
		}
		if err != nil && !strings.Contains(err.Error(), test.message) {
			t.Errorf("%s: got %q, want one that contains %q", name, err, test.message)
		}
		want := []v1alpha1.Model{{ID: "service-en", Version: "2026-11-21T00:00:00Z"}}
		if err != nil || lost {
			want = nil
		}
		if diff := cmp.Diff(want, pinned); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
