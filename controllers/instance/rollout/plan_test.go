// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem/problemtest"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

func TestJudge(t *testing.T) {
	t.Parallel()
	overdue := []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
		{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"},
	}
	for name, test := range map[string]struct {
		replicas *int32
		status   appsv1.DeploymentStatus
		want     State
	}{
		"settled":             {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}, Settled},
		"replicas left out":   {nil, appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}, Settled},
		"none wanted":         {ptr.To[int32](0), appsv1.DeploymentStatus{ObservedGeneration: 2}, Settled},
		"not seen":            {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}, Progressing},
		"an overdue that was": {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 1, Conditions: overdue}, Progressing},
		"starting":            {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 2}, Progressing},
		"old pods are there":  {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 2, AvailableReplicas: 3}, Progressing},
		"not available":       {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 1}, Progressing},
		"going to sleep":      {ptr.To[int32](0), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1}, Progressing},
		"overdue":             {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 2, Conditions: overdue}, Overdue},
	} {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: appsv1.DeploymentSpec{Replicas: test.replicas, ProgressDeadlineSeconds: ptr.To[int32](420)}, Status: test.status}
		got, message := Judge(deployment, "another")
		if got != test.want || (message == "") != (got == Settled) || got == Overdue && !strings.HasSuffix(message, " within 7m0s") {
			t.Errorf("%s: got %v %q, want %v", name, got, message, test.want)
		}
	}
	noted := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Generation: 2},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1, Conditions: overdue},
	}
	for hash, want := range map[string]State{"a": Settled, "b": Progressing} {
		noted.Spec.Template.Annotations = map[string]string{resources.TemplateHashAnnotation: hash}
		if got, message := Judge(noted, "a"); got != want {
			t.Errorf("noted of %s and not seen: got %v %q", hash, got, message)
		}
	}
	noted.Spec.Template.Annotations = map[string]string{resources.TemplateHashAnnotation: "a"}
	noted.Spec.Replicas = ptr.To[int32](2)
	if got, message := Judge(noted, "a"); got != Progressing {
		t.Errorf("scaled and not seen: got %v %q", got, message)
	}
	if got, _ := Judge(nil, ""); got != Absent {
		t.Errorf("without a Deployment: got %v", got)
	}
}

func TestCreationTrouble(t *testing.T) {
	t.Parallel()
	failure := func(status corev1.ConditionStatus) *appsv1.Deployment {
		return &appsv1.Deployment{Status: appsv1.DeploymentStatus{Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Message: "progress"},
			{Type: appsv1.DeploymentReplicaFailure, Status: status, Message: "exceeded quota"},
		}}}
	}
	for name, test := range map[string]struct {
		deployment *appsv1.Deployment
		want       string
	}{
		"no Deployment": {nil, ""},
		"a quota":       {failure(corev1.ConditionTrue), "pods cannot be made: exceeded quota"},
		"none any more": {failure(corev1.ConditionFalse), ""},
	} {
		if got := CreationTrouble(test.deployment); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	server := v1alpha1.ServerPin{Image: "i", Revision: 1}
	proven := func(lastReady string) v1alpha1.Rollout {
		return v1alpha1.Rollout{LastReady: lastReady, ProvenServer: server}
	}
	failed := func(lastReady string, generation int64) v1alpha1.Rollout {
		return v1alpha1.Rollout{LastReady: lastReady, Failed: "new", FailedGeneration: generation, FailedBecause: "why"}
	}
	for name, test := range map[string]struct {
		facts Facts
		want  Plan
	}{
		"the first":              {Facts{}, Plan{}},
		"the first is ready":     {Facts{Live: "new", State: Settled, Pods: 1}, Plan{Memory: proven("new")}},
		"a change":               {Facts{Live: "old", State: Settled, Pods: 1, Memory: proven("older")}, Plan{Memory: proven("old")}},
		"on its way":             {Facts{Live: "new", State: Progressing, Pods: 1, Memory: proven("old")}, Plan{Memory: proven("old")}},
		"asleep":                 {Facts{Live: "new", State: Settled, Memory: v1alpha1.Rollout{LastReady: "old"}}, Plan{Memory: proven("old")}},
		"the first fails":        {Facts{Live: "new", State: Overdue, Pods: 1}, Plan{Failed: true, Memory: v1alpha1.Rollout{Failed: "new", FailedGeneration: 3}}},
		"a change fails":         {Facts{Live: "new", State: Overdue, Pods: 1, Memory: v1alpha1.Rollout{LastReady: "old"}}, Plan{Failed: true, PutBack: true, Memory: v1alpha1.Rollout{LastReady: "old", Failed: "new", FailedGeneration: 3}}},
		"it is put back":         {Facts{Live: "old", State: Settled, Pods: 1, Memory: failed("old", 3)}, Plan{Failed: true, PutBack: true, Memory: failed("old", 3)}},
		"it is being put back":   {Facts{Live: "old", State: Progressing, Pods: 1, Memory: failed("old", 3)}, Plan{Failed: true, PutBack: true, Memory: failed("old", 3)}},
		"it was deleted":         {Facts{State: Absent, Memory: failed("old", 3)}, Plan{Memory: v1alpha1.Rollout{LastReady: "old"}}},
		"another generation":     {Facts{Live: "old", State: Settled, Pods: 1, Memory: failed("old", 2)}, Plan{Memory: v1alpha1.Rollout{LastReady: "old"}}},
		"what failed gets ready": {Facts{Live: "new", State: Settled, Pods: 1, Memory: failed("", 3)}, Plan{Memory: proven("new")}},
		"an older is overdue":    {Facts{Live: "old", State: Overdue, Pods: 1, Memory: v1alpha1.Rollout{LastReady: "older"}}, Plan{Memory: v1alpha1.Rollout{LastReady: "older"}}},
		"back to what was ready": {Facts{Live: "new", State: Overdue, Pods: 1, Memory: v1alpha1.Rollout{LastReady: "new"}}, Plan{Memory: v1alpha1.Rollout{LastReady: "new"}}},
	} {
		test.facts.Wish, test.facts.Generation, test.facts.Server = "new", 3, server
		test.want.Wish = "new"
		if diff := cmp.Diff(test.want, Decide(test.facts)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDecideAlwaysServesWhatWasReady lives through random lives of an
// Instance: whatever is wished for and whatever fails, once something was ready
// a wish that failed never stays, and what is put back was ready.
func TestDecideAlwaysServesWhatWasReady(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		good := map[string]bool{}
		for _, wish := range []string{"a", "b", "c", "d"} {
			good[wish] = rapid.Bool().Draw(t, "good "+wish)
		}
		facts := Facts{Generation: 1, Pods: 1}
		everReady := map[string]bool{}
		for range rapid.IntRange(1, 20).Draw(t, "edits") {
			facts.Wish = rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "wish")
			facts.Generation++
			for range 4 {
				plan := Decide(facts)
				facts.Memory, facts.Live = plan.Memory, plan.Wish
				if plan.PutBack {
					facts.Live = plan.Memory.LastReady
				}
				facts.State = Overdue
				if good[facts.Live] {
					facts.State = Settled
					everReady[facts.Live] = true
				}
			}
			plan := Decide(facts)
			switch {
			case good[facts.Wish] && (plan.Failed || facts.Live != facts.Wish):
				t.Fatalf("the good wish %s is not served: %+v", facts.Wish, plan)
			case !good[facts.Wish] && !plan.Failed:
				t.Fatalf("the bad wish %s is not given up: %+v", facts.Wish, plan)
			case plan.PutBack && !everReady[plan.Memory.LastReady]:
				t.Fatalf("%s is put back and was never ready", plan.Memory.LastReady)
			case len(everReady) > 0 && !good[facts.Live]:
				t.Fatalf("%s is asked for and does not serve, although %v were ready", facts.Live, everReady)
			}
		}
	})
}

func TestJudgeProgress(t *testing.T) {
	t.Parallel()
	pending, lost := problem.Waiting("", "VolumePending", "pending"), problem.Stalled("", "VolumeLost", "lost")
	for name, test := range map[string]struct {
		plan   Plan
		state  State
		volume *problem.Problem
		want   string
		says   string
	}{
		"settled":                   {state: Settled},
		"on its way":                {state: Progressing, want: "waiting RolloutProgressing", says: "1 of 2: crashing"},
		"just made":                 {state: Absent, want: "waiting RolloutProgressing"},
		"waits for its volume":      {state: Progressing, volume: pending, want: "waiting VolumePending"},
		"sleeps without its volume": {state: Settled, volume: pending},
		"lost its volume":           {state: Settled, volume: lost, want: "stalled VolumeLost"},
		"failed":                    {plan: Plan{Failed: true, Memory: v1alpha1.Rollout{FailedBecause: "it crashed"}}, state: Overdue, want: "stalled RolloutFailed", says: "(it crashed)"},
		"failed for its volume":     {plan: Plan{Failed: true}, state: Overdue, volume: lost, want: "stalled VolumeLost"},
		"failed, volume pending":    {plan: Plan{Failed: true}, state: Overdue, volume: pending, want: "stalled RolloutFailed"},
		"failed and put back":       {plan: Plan{Failed: true, PutBack: true}, state: Settled, want: "stalled RolloutFailed", says: "put back"},
		"what was ready is no more": {state: Overdue, want: "stalled RolloutFailed", says: "crashing"},
	} {
		err := JudgeProgress(test.plan, test.state, "1 of 2", "crashing", test.volume)
		problemtest.Expect(t, name, err, test.want)
		if err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %q, want %q in it", name, err, test.says)
		}
	}
}

func TestTemplateToApplyIsATemplateAgain(t *testing.T) {
	t.Parallel()
	live := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b", appsv1.DefaultDeploymentUniqueLabelKey: "123"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "apiserver", Image: "i"}}},
	}
	restored, err := TemplateToApply(live)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "b"}, restored.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if len(live.Labels) != 2 {
		t.Error("the ReplicaSet's own template was changed")
	}
	if *restored.Spec.Containers[0].Image != "i" {
		t.Errorf("image %q", *restored.Spec.Containers[0].Image)
	}
}

func TestReplicaSetOf(t *testing.T) {
	t.Parallel()
	ours := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "acme", UID: "ours"}}
	theirs := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "acme", UID: "theirs"}}
	set := func(name string, owner *appsv1.Deployment, hash string, age time.Duration) appsv1.ReplicaSet {
		made := appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{
			Name: name, CreationTimestamp: metav1.NewTime(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(-age)),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		}}
		made.Spec.Template.Annotations = map[string]string{resources.TemplateHashAnnotation: hash}
		return made
	}
	sets := []appsv1.ReplicaSet{
		set("other", ours, "other", 4*time.Hour),
		set("theirs", theirs, "hash", 3*time.Hour),
		set("tampered", ours, "hash", time.Hour),
		set("first", ours, "hash", 2*time.Hour),
	}
	if got := ReplicaSetOf(ours, sets, "hash"); got == nil || got.Name != "first" {
		t.Errorf("got %v", got)
	}
	if got := ReplicaSetOf(ours, sets, "none"); got != nil {
		t.Errorf("of a template that is not there: got %s", got.Name)
	}
}
