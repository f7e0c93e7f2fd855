// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/preflight"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// TestShouldRetryPreflight checks that a check without a result is retried after a
// delay, and that any failed check is retried once per user request.
func TestShouldRetryPreflight(t *testing.T) {
	t.Parallel()
	finishedJob := func(age time.Duration) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{
			{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon.Add(-age))},
		}}}
	}
	noResult := problem.Stalled(v1alpha1.ConditionModelsReady, preflight.ReasonFailed, "no answer")
	modelsUnavailable := problem.Stalled(v1alpha1.ConditionModelsReady, preflight.ReasonModelsUnavailable, "no such model")
	for name, test := range map[string]struct {
		job            *batchv1.Job
		failure        *problem.Error
		retry, retried string
		want           bool
		requeueAfter   time.Duration
	}{
		"it is well":                   {finishedJob(time.Hour), nil, "2", "1", false, 0},
		"it is running":                {&batchv1.Job{}, problem.Waiting("", preflight.ReasonRunning, "goes on"), "2", "1", false, 0},
		"no answer, just now":          {finishedJob(time.Minute), noResult, "", "", false, 4 * time.Minute},
		"no answer, a while ago":       {finishedJob(5 * time.Minute), noResult, "", "", true, time.Millisecond},
		"no answer, and asked for":     {finishedJob(time.Minute), noResult, "2", "1", true, 0},
		"no such model, for long":      {finishedJob(time.Hour), modelsUnavailable, "", "", false, 0},
		"no such model, and asked for": {finishedJob(time.Hour), modelsUnavailable, "2", "1", true, 0},
		"asked for before":             {finishedJob(time.Hour), modelsUnavailable, "2", "2", false, 0},
	} {
		s := &scope{StartedAt: noon, Instance: &v1alpha1.Instance{}}
		s.Instance.Annotations = map[string]string{v1alpha1.RetryAnnotation: test.retry}
		s.Instance.Status.Rollout.LastHandledRetry = test.retried
		if got := s.shouldRetryPreflight(test.job, test.failure); got != test.want || s.RequeueAfter() != test.requeueAfter {
			t.Errorf("%s: retry %v, requeue after %s; want %v, %s", name, got, s.RequeueAfter(), test.want, test.requeueAfter)
		}
		if test.want && s.shouldRetryPreflight(test.job, test.failure) && test.retry != "" {
			t.Errorf("%s: retried twice for the same annotation", name)
		}
	}
}
