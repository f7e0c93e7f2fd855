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

// instanceOf returns an Instance from which tenantOf reads the fields relevant to these
// tests: its server, its readiness, and its condition.
func instanceOf(one tenant) v1alpha1.Instance {
	instance := v1alpha1.Instance{}
	instance.Namespace, instance.Name, instance.UID = one.key.Namespace, one.key.Name, one.uid
	instance.Status.Server = one.pin
	instance.Status.Rollout = v1alpha1.RolloutStatus{LastReady: "x", LastHealthyServer: one.proven}
	if !one.provenAt.IsZero() {
		at := metav1.NewTime(one.provenAt)
		instance.Status.Rollout.LastHealthyAt = &at
	}
	instance.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: "Ready"},
		{Type: v1alpha1.ConditionAvailable, Status: metav1.ConditionTrue, Reason: "Serving"},
	}
	if one.told != nil {
		instance.Status.Conditions = append(instance.Status.Conditions, *one.told)
	}
	return instance
}

// tell sets a tenant's condition to a decision, as a reconcile does.
func tell(one *tenant, decision Decision) {
	one.told = &metav1.Condition{
		Type: v1alpha1.ConditionServerUpToDate, Status: decision.Status, Reason: string(decision.Reason), Message: decision.Message,
	}
}

// A cluster is the reader from which a Wave reads Instances.
type cluster struct {
	client.Reader
	items []v1alpha1.Instance
	lists int
	err   error
}

func (c *cluster) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	c.lists++
	list.(*v1alpha1.InstanceList).Items = append([]v1alpha1.Instance(nil), c.items...)
	return c.err
}

func newCluster(tenants ...tenant) *cluster {
	made := &cluster{}
	for _, one := range tenants {
		made.items = append(made.items, instanceOf(one))
	}
	return made
}

// at stops a Wave's clock.
func at(w *Wave, now time.Time) *Wave {
	w.now = func() time.Time { return now }
	return w
}

func TestStateIsLoggedOnce(t *testing.T) {
	t.Parallel()
	lines := 0
	ctx := log.IntoContext(t.Context(), funcr.New(func(_, _ string) { lines++ }, funcr.Options{}))
	w := New(nil, newServer, Options{Limit: 1, Soak: soak})
	failed := settled("failed", newServer, onItsWay(0), failedWith(v1alpha1.FailureReasonServer, 0))
	for i, test := range []struct {
		tenants []tenant
		want    int
	}{
		{nil, 0},
		{[]tenant{failed}, 1},
		{[]tenant{failed}, 1},
		{nil, 2},
		{[]tenant{failed}, 3},
	} {
		w.tenants = test.tenants
		if w.consider(ctx, noon); lines != test.want {
			t.Errorf("look %d: got %d lines, want %d", i, lines, test.want)
		}
	}
}

// TestVisitsAreAskedForOnce checks that a reconcile is requested only if an Instance's
// condition does not show its decision, and only once per decision.
func TestVisitsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	a, b := settled("a", oldServer), settled("b", oldServer)
	w := New(nil, newServer, Options{Limit: 1, Soak: soak})
	look := func(want ...string) {
		t.Helper()
		w.tenants = []tenant{a, b, settled("x", v1alpha1.ServerBuild{}), settled("y", oldServer, deleted)}
		w.consider(t.Context(), noon)
		var got []string
		for _, key := range w.dueVisits(noon) {
			got = append(got, key.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("visits (-want +got):\n%s", diff)
		}
	}
	look("a", "b")
	look()
	tell(&b, w.plan.decide(&b, noon))
	look()
	a.pin, a.proven, a.provenAt = newServer, newServer, noon
	look("a")
	tell(&a, w.plan.decide(&a, noon))
	look()
	a.provenAt = noon.Add(-soak)
	look("b", "a")
}

func TestVisitsOfThoseThatWaitAreRationed(t *testing.T) {
	t.Parallel()
	w := New(nil, newServer, Options{Limit: 1, Soak: soak})
	for i := range tellLimit + 10 {
		w.tenants = append(w.tenants, settled(fmt.Sprintf("tenant-%04d", tellLimit+10-i), oldServer))
	}
	w.consider(t.Context(), noon)
	first := w.dueVisits(noon)
	if len(first) != tellLimit+1 || first[0].Name != "tenant-0001" {
		t.Errorf("%d reconciles are due, the first for %s, want %d and the moving Instance first", len(first), first[0].Name, tellLimit+1)
	}
	if second := w.dueVisits(noon); len(second) != 9 {
		t.Errorf("then %d visits are due, want the other 9", len(second))
	}
}

func TestAdvanceAsksForVisits(t *testing.T) {
	t.Parallel()
	w := at(New(newCluster(settled("a", oldServer)), newServer, Options{Limit: 1, Soak: soak}), noon)
	if _, _, looked := w.Summary(); looked {
		t.Error("nothing is known before the first look")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.Start(ctx) }()
	if visit := <-w.Visits; visit.Object.Namespace != "tenants" || visit.Object.Name != "a" {
		t.Errorf("a visit is asked for of %s", client.ObjectKeyFromObject(visit.Object))
	}
	state, reasons, looked := w.Summary()
	if diff := cmp.Diff(map[Reason]int{ReasonCanary: 1}, reasons); diff != "" || state != Canary || !looked {
		t.Errorf("got %s, %v (-want +got):\n%s", state, looked, diff)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestNewInstanceBeforeTheFirstLook checks that a new Instance never starts on a build
// that failed, however soon after the operator's start it is created.
func TestNewInstanceBeforeTheFirstLook(t *testing.T) {
	t.Parallel()
	canary := settled("canary", newServer, provenFor(time.Minute))
	cluster := newCluster(canary, settled("old", oldServer))
	now := noon
	w := New(cluster, newServer, Options{Limit: 1, Soak: soak})
	w.now = func() time.Time { return now }
	expect := func(instance v1alpha1.Instance, want v1alpha1.ServerBuild, lists int) {
		t.Helper()
		got, err := w.Decide(t.Context(), &instance)
		if err != nil || got.Server != want || cluster.lists != lists {
			t.Errorf("got %v after %d looks, %v, want %v after %d", got.Server, cluster.lists, err, want, lists)
		}
	}
	cluster.err = errors.New("the cache is unavailable")
	if _, err := w.Decide(t.Context(), &v1alpha1.Instance{}); !errors.Is(err, cluster.err) {
		t.Errorf("got %v", err)
	}
	cluster.err = nil
	expect(v1alpha1.Instance{}, oldServer, 2)
	expect(v1alpha1.Instance{}, oldServer, 2)
	expect(instanceOf(canary), newServer, 2)
	now = noon.Add(soak)
	expect(instanceOf(canary), newServer, 2)
	expect(v1alpha1.Instance{}, newServer, 3)
}

// BenchmarkLook measures a look at 10,000 Instances, which the wave takes every 10
// seconds: all settled, all waiting for the canary, and each with a window.
func BenchmarkLook(b *testing.B) {
	window := &v1alpha1.MaintenanceWindow{Start: "02:00", End: "05:00", TimeZone: "Europe/Berlin"}
	for name, change := range map[string]func(*v1alpha1.Instance){
		"settled": func(instance *v1alpha1.Instance) {
			instance.Status.Server, instance.Status.Rollout.LastHealthyServer = newServer, newServer
		},
		"waiting": func(*v1alpha1.Instance) {},
		"windows": func(instance *v1alpha1.Instance) { instance.Spec.Rollout = &v1alpha1.RolloutSpec{Window: window} },
	} {
		b.Run(name, func(b *testing.B) {
			cluster := &cluster{}
			for i := range 10_000 {
				instance := instanceOf(settled(fmt.Sprintf("tenant-%05d", i), oldServer))
				if change(&instance); i == 0 {
					at := metav1.NewTime(noon)
					instance.Status.Server, instance.Status.Rollout.LastHealthyServer, instance.Status.Rollout.LastHealthyAt = newServer, newServer, &at
				}
				cluster.items = append(cluster.items, instance)
			}
			w := at(New(cluster, newServer, Options{Limit: 5, Soak: soak}), noon)
			if _, err := w.lookForVisits(b.Context()); err != nil {
				b.Fatal(err)
			}
			for i := range w.tenants {
				one := &w.tenants[i]
				tell(one, w.plan.decide(one, noon))
				cluster.items[i].Status.Conditions = append(cluster.items[i].Status.Conditions, *one.told)
			}
			b.ReportAllocs()
			for b.Loop() {
				due, err := w.lookForVisits(b.Context())
				if err != nil || len(due) > 0 {
					b.Fatal(due, err)
				}
			}
		})
	}
}
