// SPDX-License-Identifier: Apache-2.0

package instance

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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

func TestJudgeRollout(t *testing.T) {
	t.Parallel()
	overdue := []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
		{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"},
	}
	for name, test := range map[string]struct {
		replicas *int32
		status   appsv1.DeploymentStatus
		want     rolloutState
	}{
		"settled":             {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}, rolloutSettled},
		"replicas left out":   {nil, appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}, rolloutSettled},
		"none wanted":         {ptr.To[int32](0), appsv1.DeploymentStatus{ObservedGeneration: 2}, rolloutSettled},
		"not seen":            {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 2}, rolloutProgressing},
		"an overdue that was": {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 1, Conditions: overdue}, rolloutProgressing},
		"starting":            {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 2}, rolloutProgressing},
		"old pods are there":  {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 2, AvailableReplicas: 3}, rolloutProgressing},
		"not available":       {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, AvailableReplicas: 1}, rolloutProgressing},
		"going to sleep":      {ptr.To[int32](0), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1}, rolloutProgressing},
		"overdue":             {ptr.To[int32](2), appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 1, AvailableReplicas: 2, Conditions: overdue}, rolloutOverdue},
	} {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: appsv1.DeploymentSpec{Replicas: test.replicas}, Status: test.status}
		got, message := judgeRollout(deployment)
		if got != test.want || (message == "") != (got == rolloutSettled) {
			t.Errorf("%s: got %v %q, want %v", name, got, message, test.want)
		}
	}
	if got, _ := judgeRollout(nil); got != rolloutAbsent {
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
		if got := creationTrouble(test.deployment); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

func TestPlanTemplate(t *testing.T) {
	t.Parallel()
	server := v1alpha1.ServerPin{Image: "i", Revision: 1}
	proven := func(lastReady string) v1alpha1.Rollout {
		return v1alpha1.Rollout{LastReady: lastReady, ProvenServer: server}
	}
	failed := func(lastReady string, generation int64) v1alpha1.Rollout {
		return v1alpha1.Rollout{LastReady: lastReady, Failed: "new", FailedGeneration: generation, FailedBecause: "why"}
	}
	for name, test := range map[string]struct {
		facts rolloutFacts
		want  templatePlan
	}{
		"the first":              {rolloutFacts{}, templatePlan{}},
		"the first is ready":     {rolloutFacts{live: "new", state: rolloutSettled, pods: 1}, templatePlan{memory: proven("new")}},
		"a change":               {rolloutFacts{live: "old", state: rolloutSettled, pods: 1, memory: proven("older")}, templatePlan{memory: proven("old")}},
		"on its way":             {rolloutFacts{live: "new", state: rolloutProgressing, pods: 1, memory: proven("old")}, templatePlan{memory: proven("old")}},
		"asleep":                 {rolloutFacts{live: "new", state: rolloutSettled, memory: v1alpha1.Rollout{LastReady: "old"}}, templatePlan{memory: proven("old")}},
		"the first fails":        {rolloutFacts{live: "new", state: rolloutOverdue, pods: 1}, templatePlan{failed: true, memory: v1alpha1.Rollout{Failed: "new", FailedGeneration: 3}}},
		"a change fails":         {rolloutFacts{live: "new", state: rolloutOverdue, pods: 1, memory: v1alpha1.Rollout{LastReady: "old"}}, templatePlan{failed: true, putBack: true, memory: v1alpha1.Rollout{LastReady: "old", Failed: "new", FailedGeneration: 3}}},
		"it is put back":         {rolloutFacts{live: "old", state: rolloutSettled, pods: 1, memory: failed("old", 3)}, templatePlan{failed: true, putBack: true, memory: failed("old", 3)}},
		"it is being put back":   {rolloutFacts{live: "old", state: rolloutProgressing, pods: 1, memory: failed("old", 3)}, templatePlan{failed: true, putBack: true, memory: failed("old", 3)}},
		"it was deleted":         {rolloutFacts{state: rolloutAbsent, memory: failed("old", 3)}, templatePlan{memory: v1alpha1.Rollout{LastReady: "old"}}},
		"another generation":     {rolloutFacts{live: "old", state: rolloutSettled, pods: 1, memory: failed("old", 2)}, templatePlan{memory: v1alpha1.Rollout{LastReady: "old"}}},
		"what failed gets ready": {rolloutFacts{live: "new", state: rolloutSettled, pods: 1, memory: failed("", 3)}, templatePlan{memory: proven("new")}},
		"an older is overdue":    {rolloutFacts{live: "old", state: rolloutOverdue, pods: 1, memory: v1alpha1.Rollout{LastReady: "older"}}, templatePlan{memory: v1alpha1.Rollout{LastReady: "older"}}},
		"back to what was ready": {rolloutFacts{live: "new", state: rolloutOverdue, pods: 1, memory: v1alpha1.Rollout{LastReady: "new"}}, templatePlan{memory: v1alpha1.Rollout{LastReady: "new"}}},
	} {
		test.facts.wish, test.facts.generation, test.facts.server = "new", 3, server
		test.want.wish = "new"
		if diff := cmp.Diff(test.want, planTemplate(test.facts), cmp.AllowUnexported(templatePlan{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestPlanTemplateAlwaysServesWhatWasReady lives through random lives of an
// Instance: whatever is wished for and whatever fails, once something was ready
// a wish that failed never stays, and what is put back was ready.
func TestPlanTemplateAlwaysServesWhatWasReady(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		good := map[string]bool{}
		for _, wish := range []string{"a", "b", "c", "d"} {
			good[wish] = rapid.Bool().Draw(t, "good "+wish)
		}
		facts := rolloutFacts{generation: 1, pods: 1}
		everReady := map[string]bool{}
		for range rapid.IntRange(1, 20).Draw(t, "edits") {
			facts.wish = rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "wish")
			facts.generation++
			for range 4 {
				plan := planTemplate(facts)
				facts.memory, facts.live = plan.memory, plan.wish
				if plan.putBack {
					facts.live = plan.memory.LastReady
				}
				facts.state = rolloutOverdue
				if good[facts.live] {
					facts.state = rolloutSettled
					everReady[facts.live] = true
				}
			}
			plan := planTemplate(facts)
			switch {
			case good[facts.wish] && (plan.failed || facts.live != facts.wish):
				t.Fatalf("the good wish %s is not served: %+v", facts.wish, plan)
			case !good[facts.wish] && !plan.failed:
				t.Fatalf("the bad wish %s is not given up: %+v", facts.wish, plan)
			case plan.putBack && !everReady[plan.memory.LastReady]:
				t.Fatalf("%s is put back and was never ready", plan.memory.LastReady)
			case len(everReady) > 0 && !good[facts.live]:
				t.Fatalf("%s is asked for and does not serve, although %v were ready", facts.live, everReady)
			}
		}
	})
}

func TestJudgeProgress(t *testing.T) {
	t.Parallel()
	pending, lost := waiting("", "VolumePending", "pending"), stalled("", "VolumeLost", "lost")
	for name, test := range map[string]struct {
		plan   templatePlan
		state  rolloutState
		volume *problem
		want   string
		says   string
	}{
		"settled":                   {state: rolloutSettled},
		"on its way":                {state: rolloutProgressing, want: "waiting RolloutProgressing", says: "1 of 2: crashing"},
		"just made":                 {state: rolloutAbsent, want: "waiting RolloutProgressing"},
		"waits for its volume":      {state: rolloutProgressing, volume: pending, want: "waiting VolumePending"},
		"sleeps without its volume": {state: rolloutSettled, volume: pending},
		"lost its volume":           {state: rolloutSettled, volume: lost, want: "stalled VolumeLost"},
		"failed":                    {plan: templatePlan{failed: true, memory: v1alpha1.Rollout{FailedBecause: "it crashed"}}, state: rolloutOverdue, want: "stalled RolloutFailed", says: "(it crashed)"},
		"failed for its volume":     {plan: templatePlan{failed: true}, state: rolloutOverdue, volume: lost, want: "stalled VolumeLost"},
		"failed, volume pending":    {plan: templatePlan{failed: true}, state: rolloutOverdue, volume: pending, want: "stalled RolloutFailed"},
		"failed and put back":       {plan: templatePlan{failed: true, putBack: true}, state: rolloutSettled, want: "stalled RolloutFailed", says: "put back"},
		"what was ready is no more": {state: rolloutOverdue, want: "stalled RolloutFailed", says: "crashing"},
	} {
		err := judgeProgress(test.plan, test.state, "1 of 2", "crashing", test.volume)
		expectProblem(t, name, err, test.want)
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
	restored, err := templateToApply(live)
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
			Name: name, CreationTimestamp: metav1.NewTime(noon.Add(-age)),
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
	if got := replicaSetOf(ours, sets, "hash"); got == nil || got.Name != "first" {
		t.Errorf("got %v", got)
	}
	if got := replicaSetOf(ours, sets, "none"); got != nil {
		t.Errorf("of a template that is not there: got %s", got.Name)
	}
}
