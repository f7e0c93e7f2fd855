// SPDX-License-Identifier: Apache-2.0

package wave

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// newInstanceWithState returns an Instance with the build, readiness and ServerCurrent
// condition of a state, so that newInstanceState reads them back.
func newInstanceWithState(state instanceState) v1alpha1.Instance {
	instance := v1alpha1.Instance{}
	instance.Namespace, instance.Name, instance.UID = state.key.Namespace, state.key.Name, state.uid
	instance.Status.Server = state.build
	instance.Status.Rollout = v1alpha1.RolloutStatus{LastReadyTemplateHash: "x", LastHealthyServer: state.lastHealthy}
	if !state.lastHealthyAt.IsZero() {
		at := metav1.NewTime(state.lastHealthyAt)
		instance.Status.Rollout.LastHealthyAt = &at
	}
	instance.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Ready"},
		{Type: v1alpha1.ConditionAvailable, Status: metav1.ConditionTrue, Reason: "Serving"},
	}
	if state.serverCondition != nil {
		instance.Status.Conditions = append(instance.Status.Conditions, *state.serverCondition)
	}
	return instance
}

// setServerCondition sets the ServerCurrent condition to a decision, as a reconcile does.
func setServerCondition(instance *instanceState, decision Decision) {
	instance.serverCondition = &metav1.Condition{
		Type: v1alpha1.ConditionServerCurrent, Status: decision.Status, Reason: string(decision.Reason), Message: decision.Message,
	}
}

// A fakeReader lists Instances and counts the calls.
type fakeReader struct {
	client.Reader
	instances []v1alpha1.Instance
	lists     int
	err       error
}

func (r *fakeReader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	r.lists++
	list.(*v1alpha1.InstanceList).Items = append([]v1alpha1.Instance(nil), r.instances...)
	return r.err
}

func newFakeReader(states ...instanceState) *fakeReader {
	reader := &fakeReader{}
	for _, instance := range states {
		reader.instances = append(reader.instances, newInstanceWithState(instance))
	}
	return reader
}

// withClock stops a Wave's clock at a time.
func withClock(w *Wave, now time.Time) *Wave {
	w.now = func() time.Time { return now }
	return w
}

func TestStateIsLoggedOnce(t *testing.T) {
	t.Parallel()
	lines := 0
	ctx := log.IntoContext(t.Context(), funcr.New(func(_, _ string) { lines++ }, funcr.Options{}))
	w := New(nil, targetBuild, Options{Limit: 1, Soak: soakDuration})
	failed := newHealthyState("failed", targetBuild, movingFor(0), failedWith(v1alpha1.FailureReasonServer, 0))
	for i, test := range []struct {
		tenants []instanceState
		want    int
	}{
		{nil, 0},
		{[]instanceState{failed}, 1},
		{[]instanceState{failed}, 1},
		{nil, 2},
		{[]instanceState{failed}, 3},
	} {
		w.instances = test.tenants
		if w.replan(ctx, noon); lines != test.want {
			t.Errorf("plan %d: got %d log lines, want %d", i, lines, test.want)
		}
	}
}

// TestReconcilesAreRequestedOnce checks that a reconcile is requested only if an
// Instance's condition does not report its decision, and only once per decision.
func TestReconcilesAreRequestedOnce(t *testing.T) {
	t.Parallel()
	a, b := newHealthyState("a", currentBuild), newHealthyState("b", currentBuild)
	w := New(nil, targetBuild, Options{Limit: 1, Soak: soakDuration})
	expectDue := func(want ...string) {
		t.Helper()
		w.instances = []instanceState{a, b, newHealthyState("x", v1alpha1.ServerBuild{}), newHealthyState("y", currentBuild, withDeletion)}
		w.replan(t.Context(), noon)
		var got []string
		for _, key := range w.dueInstances(noon) {
			got = append(got, key.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("due Instances (-want +got):\n%s", diff)
		}
	}
	expectDue("a", "b")
	expectDue()
	setServerCondition(&b, w.plan.decide(&b, noon))
	expectDue()
	a.build, a.lastHealthy, a.lastHealthyAt = targetBuild, targetBuild, noon
	expectDue("a")
	setServerCondition(&a, w.plan.decide(&a, noon))
	expectDue()
	a.lastHealthyAt = noon.Add(-soakDuration)
	expectDue("b", "a")
}

func TestConditionUpdatesAreLimited(t *testing.T) {
	t.Parallel()
	w := New(nil, targetBuild, Options{Limit: 1, Soak: soakDuration})
	for i := range maxConditionUpdates + 10 {
		w.instances = append(w.instances, newHealthyState(fmt.Sprintf("tenant-%04d", maxConditionUpdates+10-i), currentBuild))
	}
	w.replan(t.Context(), noon)
	first := w.dueInstances(noon)
	if len(first) != maxConditionUpdates+1 || first[0].Name != "tenant-0001" {
		t.Errorf("%d reconciles are due, the first for %s, want %d with the moving Instance first", len(first), first[0].Name, maxConditionUpdates+1)
	}
	if second := w.dueInstances(noon); len(second) != 9 {
		t.Errorf("second call: %d reconciles are due, want the remaining 9", len(second))
	}
}

func TestAdvanceRequestsReconciles(t *testing.T) {
	t.Parallel()
	w := withClock(New(newFakeReader(newHealthyState("a", currentBuild)), targetBuild, Options{Limit: 1, Soak: soakDuration}), noon)
	if _, _, planned := w.Summary(); planned {
		t.Error("Summary reports a plan before the first plan")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.Start(ctx) }()
	if request := <-w.Requests; request.Object.Namespace != "tenants" || request.Object.Name != "a" {
		t.Errorf("got a request for %s, want tenants/a", client.ObjectKeyFromObject(request.Object))
	}
	state, reasons, planned := w.Summary()
	if diff := cmp.Diff(map[Reason]int{ReasonCanary: 1}, reasons); diff != "" || state != Canary || !planned {
		t.Errorf("got %s, %v (-want +got):\n%s", state, planned, diff)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Start: %v", err)
	}
}

// TestNewInstanceBeforeFirstPlan checks that a new Instance never starts on a failed
// build, even if it is created right after the operator starts.
func TestNewInstanceBeforeFirstPlan(t *testing.T) {
	t.Parallel()
	canary := newHealthyState("canary", targetBuild, healthyFor(time.Minute))
	reader := newFakeReader(canary, newHealthyState("old", currentBuild))
	now := noon
	w := New(reader, targetBuild, Options{Limit: 1, Soak: soakDuration})
	w.now = func() time.Time { return now }
	expect := func(instance v1alpha1.Instance, want v1alpha1.ServerBuild, lists int) {
		t.Helper()
		got, err := w.Decide(t.Context(), &instance)
		if err != nil || got.Server != want || reader.lists != lists {
			t.Errorf("got %v after %d lists, %v, want %v after %d", got.Server, reader.lists, err, want, lists)
		}
	}
	reader.err = errors.New("the cache is unavailable")
	if _, err := w.Decide(t.Context(), &v1alpha1.Instance{}); !errors.Is(err, reader.err) {
		t.Errorf("got error %v, want %v", err, reader.err)
	}
	reader.err = nil
	expect(v1alpha1.Instance{}, currentBuild, 2)
	expect(v1alpha1.Instance{}, currentBuild, 2)
	expect(newInstanceWithState(canary), targetBuild, 2)
	now = noon.Add(soakDuration)
	expect(newInstanceWithState(canary), targetBuild, 2)
	expect(v1alpha1.Instance{}, targetBuild, 3)
}

// BenchmarkPlan measures planning for 10,000 Instances, which the Wave does every 10
// seconds: all healthy on the target, all waiting for the canary, and all with a window.
func BenchmarkPlan(b *testing.B) {
	window := &v1alpha1.MaintenanceWindow{Start: "02:00", End: "05:00", TimeZone: "Europe/Berlin"}
	for name, change := range map[string]func(*v1alpha1.Instance){
		"settled": func(instance *v1alpha1.Instance) {
			instance.Status.Server, instance.Status.Rollout.LastHealthyServer = targetBuild, targetBuild
		},
		"waiting": func(*v1alpha1.Instance) {},
		"windows": func(instance *v1alpha1.Instance) { instance.Spec.Rollout = &v1alpha1.RolloutSpec{Window: window} },
	} {
		b.Run(name, func(b *testing.B) {
			reader := &fakeReader{}
			for i := range 10_000 {
				instance := newInstanceWithState(newHealthyState(fmt.Sprintf("tenant-%05d", i), currentBuild))
				if change(&instance); i == 0 {
					at := metav1.NewTime(noon)
					instance.Status.Server, instance.Status.Rollout.LastHealthyServer, instance.Status.Rollout.LastHealthyAt = targetBuild, targetBuild, &at
				}
				reader.instances = append(reader.instances, instance)
			}
			w := withClock(New(reader, targetBuild, Options{Limit: 5, Soak: soakDuration}), noon)
			if _, err := w.refreshAndListDue(b.Context()); err != nil {
				b.Fatal(err)
			}
			for i := range w.instances {
				instance := &w.instances[i]
				setServerCondition(instance, w.plan.decide(instance, noon))
				reader.instances[i].Status.Conditions = append(reader.instances[i].Status.Conditions, *instance.serverCondition)
			}
			b.ReportAllocs()
			for b.Loop() {
				due, err := w.refreshAndListDue(b.Context())
				if err != nil || len(due) > 0 {
					b.Fatal(due, err)
				}
			}
		})
	}
}
