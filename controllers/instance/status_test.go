// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/conditions"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// conditionLines returns the conditions of an Instance, one per line, in order.
func conditionLines(instance *v1alpha1.Instance) []string {
	var lines []string
	for _, condition := range instance.Status.Conditions {
		lines = append(lines, fmt.Sprintf("%s=%s %s@%d", condition.Type, condition.Status, condition.Reason, condition.ObservedGeneration))
	}
	slices.Sort(lines)
	return lines
}

func errorList(err error) []error {
	if err == nil {
		return nil
	}
	return []error{err}
}

func computeKstatus(t *testing.T, instance *v1alpha1.Instance) kstatus.Status {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(instance)
	if err != nil {
		t.Fatal(err)
	}
	result, err := kstatus.Compute(&unstructured.Unstructured{Object: fields})
	if err != nil {
		t.Fatal(err)
	}
	return result.Status
}

// TestSummarize covers the transitions between every pair of reconcile results.
func TestSummarize(t *testing.T) {
	t.Parallel()
	type end struct {
		err       error
		hibernate bool
		want      []string
		kstatus   kstatus.Status
	}
	ends := map[string]end{
		"ready":      {nil, false, []string{"Ready=True Ready@3"}, kstatus.CurrentStatus},
		"hibernated": {nil, true, []string{"Ready=True Hibernated@3"}, kstatus.CurrentStatus},
		"waiting":    {problem.Waiting("", "SecretNotFound", "x"), false, []string{"Ready=False SecretNotFound@3", "Reconciling=True SecretNotFound@3"}, kstatus.InProgressStatus},
		"stalled":    {fmt.Errorf("a step: %w", problem.Stalled("", "Refused", "x")), false, []string{"Ready=False Refused@3", "Stalled=True Refused@3"}, kstatus.FailedStatus},
	}
	for before, first := range ends {
		for after, second := range ends {
			instance := acme()
			instance.Spec.Hibernate = first.hibernate
			summarize(instance, noon, errorList(first.err))
			instance.Spec.Hibernate = second.hibernate
			summarize(instance, noon.Add(conditions.TransientGracePeriod), errorList(second.err))
			if diff := cmp.Diff(second.want, conditionLines(instance)); diff != "" {
				t.Errorf("from %s to %s (-want +got):\n%s", before, after, diff)
			}
			if got := computeKstatus(t, instance); got != second.kstatus {
				t.Errorf("from %s to %s: kstatus %s, want %s", before, after, got, second.kstatus)
			}
		}
	}
}

func TestErrorSetsItsCondition(t *testing.T) {
	t.Parallel()
	instance := acme()
	setInstanceCondition(instance, noon, v1alpha1.ConditionStorageReady, metav1.ConditionTrue, "VolumeBound", "")
	summarize(instance, noon, []error{problem.Stalled(v1alpha1.ConditionStorageReady, "VolumeLost", "gone")})
	want := []string{"Ready=False VolumeLost@3", "Stalled=True VolumeLost@3", "StorageReady=False VolumeLost@3"}
	if diff := cmp.Diff(want, conditionLines(instance)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUnchangedConditionKeepsTransitionTime(t *testing.T) {
	t.Parallel()
	instance := acme()
	summarize(instance, noon, nil)
	before := instance.DeepCopy()
	summarize(instance, noon.Add(time.Hour), nil)
	if diff := cmp.Diff(before.Status, instance.Status); diff != "" {
		t.Errorf("a reconcile without changes changed the status (-before +after):\n%s", diff)
	}
}

func TestSetSuspended(t *testing.T) {
	t.Parallel()
	expired := problem.Stalled("", "TLSSecretInvalid", "the certificate expired")
	for name, test := range map[string]struct {
		before, now error
		want        string
		contains    string
		kstatus     kstatus.Status
	}{
		"well":               {nil, nil, "Ready=True Suspended@3", "spec changes are not applied", kstatus.CurrentStatus},
		"was stalled":        {expired, nil, "Ready=True Suspended@3", "spec changes are not applied", kstatus.CurrentStatus},
		"cannot renew":       {nil, expired, "Ready=False Suspended@3", "the certificate expired", kstatus.InProgressStatus},
		"meets an accident":  {nil, errors.New("no answer"), "Ready=True Suspended@3", "no answer", kstatus.CurrentStatus},
		"waits for its pods": {nil, problem.Waiting("", "RolloutProgressing", "0 of 1"), "Ready=False Suspended@3", "0 of 1", kstatus.InProgressStatus},
	} {
		instance := acme()
		summarize(instance, noon, errorList(test.before))
		instance.Status.ObservedGeneration = -1
		setSuspended(instance, noon, errorList(test.now))
		if diff := cmp.Diff([]string{test.want}, conditionLines(instance)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if message := meta.FindStatusCondition(instance.Status.Conditions, "Ready").Message; !strings.Contains(message, test.contains) {
			t.Errorf("%s: got message %q, want one that contains %q", name, message, test.contains)
		}
		if got := computeKstatus(t, instance); got != test.kstatus || instance.Status.ObservedGeneration != 3 {
			t.Errorf("%s: kstatus %s at generation %d, want %s", name, got, instance.Status.ObservedGeneration, test.kstatus)
		}
	}
}

// TestSingleTransientErrorKeepsReady checks that a single transient error shows only in
// Reconciling, and that Ready becomes Unknown if errors persist.
func TestSingleTransientErrorKeepsReady(t *testing.T) {
	t.Parallel()
	instance := acme()
	summarize(instance, noon, nil)
	failures := []error{errors.New("no answer")}
	for _, test := range []struct {
		after time.Duration
		want  []string
	}{
		{0, []string{"Ready=True Ready@3", "Reconciling=True TransientError@3"}},
		{conditions.TransientGracePeriod - time.Second, []string{"Ready=True Ready@3", "Reconciling=True TransientError@3"}},
		{conditions.TransientGracePeriod, []string{"Ready=Unknown TransientError@3", "Reconciling=True TransientError@3"}},
	} {
		summarize(instance, noon.Add(test.after), failures)
		if diff := cmp.Diff(test.want, conditionLines(instance)); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", test.after, diff)
		}
	}
}

func TestSetDrifted(t *testing.T) {
	t.Parallel()
	instance := acme()
	setDrifted(instance, noon, []string{"Deployment acme has drifted: x", strings.Repeat("y", 3000)})
	found := meta.FindStatusCondition(instance.Status.Conditions, v1alpha1.ConditionDrifted)
	if found == nil || found.Status != metav1.ConditionTrue || !strings.HasPrefix(found.Message, "Deployment acme") || len(found.Message) > 2*maxMessageLength {
		t.Errorf("got %+v", found)
	}
	// The API server would replace a truncated character, and the status would differ
	// forever.
	for shift := range 3 {
		setDrifted(instance, noon, []string{strings.Repeat("y", shift) + strings.Repeat("…", 1000)})
		if found := meta.FindStatusCondition(instance.Status.Conditions, v1alpha1.ConditionDrifted); !utf8.ValidString(found.Message) {
			t.Errorf("shift %d: the message ends with a truncated character", shift)
		}
	}
	if setDrifted(instance, noon, nil); len(instance.Status.Conditions) > 0 {
		t.Errorf("got conditions %+v without drift, want none", instance.Status.Conditions)
	}
}

func TestObservePods(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		hibernate  bool
		want       string
		replicas   int32
	}{
		"none":           {nil, false, "Available=False NoPodReady@3", 0},
		"starting":       {&appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: 2}}, false, "Available=False NoPodReady@3", 2},
		"one serves":     {&appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: 2, ReadyReplicas: 1, AvailableReplicas: 1}}, false, "Available=True Serving@3", 2},
		"asleep":         {&appsv1.Deployment{}, true, "Available=False Hibernated@3", 0},
		"falling asleep": {&appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: 1, AvailableReplicas: 1}}, true, "Available=True Serving@3", 1},
	} {
		instance := acme()
		instance.Spec.Hibernate = test.hibernate
		instance.Status.Replicas = 7
		observePods(instance, noon, test.deployment)
		if diff := cmp.Diff([]string{test.want}, conditionLines(instance)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if instance.Status.Replicas != test.replicas {
			t.Errorf("%s: %d replicas, want %d", name, instance.Status.Replicas, test.replicas)
		}
	}
}
