// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func acme() *v1alpha1.Instance {
	return &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "tenants", UID: "new", Generation: 3}}
}

func TestCacheNamespaces(t *testing.T) {
	t.Parallel()
	keys := func(options Options, withOwn bool) []string {
		var names []string
		for _, name := range []string{"a", "b", "system"} {
			if _, ok := cacheNamespaces(options, withOwn)[name]; ok {
				names = append(names, name)
			}
		}
		return names
	}
	if cacheNamespaces(Options{Namespace: "system"}, true) != nil {
		t.Error("got namespaces without a restriction, want nil")
	}
	options := Options{Namespace: "system", Namespaces: []string{"a", "b"}}
	if diff := cmp.Diff([]string{"a", "b"}, keys(options, false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b", "system"}, keys(options, true)); diff != "" {
		t.Errorf("with the operator's own namespace (-want +got):\n%s", diff)
	}
}

func TestCacheHoldsManagedObjectsOnly(t *testing.T) {
	t.Parallel()
	selector := labels.SelectorFromSet(labels.Set{"team": "blue"})
	options := CacheOptions(Options{Selector: selector})
	if len(options.ByObject) != len(inventory.Kinds)+1 {
		t.Errorf("got %d cached kinds, want %d and Instances", len(options.ByObject), len(inventory.Kinds))
	}
	for object, by := range options.ByObject {
		_, isInstance := object.(*v1alpha1.Instance)
		switch {
		case isInstance && by.Label.String() != "team=blue":
			t.Errorf("Instances: got selector %s, want team=blue", by.Label)
		case !isInstance && (by.Label.Matches(labels.Set{}) || !by.Label.Matches(labels.Set(resources.Labels(acme())))):
			t.Errorf("%T: got selector %s, want the operator's label", object, by.Label)
		}
	}
	stripped, err := options.DefaultTransform(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "x"}}}})
	if err != nil || len(stripped.(*corev1.Secret).ManagedFields) > 0 {
		t.Errorf("managed fields were not stripped: %v", err)
	}
}

func TestMapDataToInstance(t *testing.T) {
	t.Parallel()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "tenants", Labels: resources.Labels(acme())}}
	want := []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: "tenants", Name: "acme"}}}
	if diff := cmp.Diff(want, mapDataToInstance(t.Context(), claim)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := mapDataToInstance(t.Context(), &corev1.PersistentVolumeClaim{}); got != nil {
		t.Errorf("foreign claim: got requests %v, want none", got)
	}
}

func TestStatusRegressed(t *testing.T) {
	t.Parallel()
	observing := func(generation int64) client.Object {
		instance := acme()
		instance.Status.ObservedGeneration = generation
		return instance
	}
	for name, test := range map[string]struct {
		before, after client.Object
		want          bool
	}{
		"status was taken away":        {observing(3), observing(0), true},
		"an earlier status was put":    {observing(3), observing(2), true},
		"the operator said what it is": {observing(2), observing(3), false},
		"the operator said something":  {observing(3), observing(3), false},
		"is no Instance":               {&corev1.Secret{}, &corev1.Secret{}, false},
	} {
		if got := statusRegressed(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestReferencedSecrets(t *testing.T) {
	t.Parallel()
	instance := acme()
	if referencedSecrets(instance) != nil || hasUnwatchedReferences(instance) {
		t.Error("got references in an empty spec")
	}
	instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "tls"}}
	instance.Spec.Storage.External = &v1alpha1.ExternalStorage{SecretRef: v1alpha1.SecretKeyReference{Name: "db"}}
	if diff := cmp.Diff([]string{"tls", "db"}, referencedSecrets(instance)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTimeToReady(t *testing.T) {
	t.Parallel()
	instance := acme()
	summarize(instance, noon, []error{problem.Waiting("", "X", "x")})
	before := instance.DeepCopy().Status.Conditions
	summarize(instance, noon.Add(90*time.Second), nil)
	after := instance.Status.Conditions
	for name, test := range map[string]struct {
		before, after []metav1.Condition
		want          time.Duration
		isReady       bool
	}{
		"became ready":  {before, after, 90 * time.Second, true},
		"still waiting": {before, before, 0, false},
		"was ready":     {after, after, 0, false},
		"unknown":       {nil, nil, 0, false},
	} {
		if got, isReady := timeToReady(test.before, test.after); got != test.want || isReady != test.isReady {
			t.Errorf("%s: got %s, %v", name, got, isReady)
		}
	}
}

func TestCountConditions(t *testing.T) {
	t.Parallel()
	ready, stalled := acme(), acme()
	summarize(ready, noon, nil)
	summarize(stalled, noon, []error{problem.Stalled("", "X", "x")})
	want := map[conditionKey]int{
		{"Ready", metav1.ConditionTrue}: 2, {"Ready", metav1.ConditionFalse}: 1, {"Stalled", metav1.ConditionTrue}: 1,
	}
	if diff := cmp.Diff(want, countConditions([]v1alpha1.Instance{*ready, *stalled, *ready})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestInstanceMetrics(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.waitUntilIdle()
	gatherer := prometheus.NewRegistry()
	gatherer.MustRegister(h.reconciler.metrics.reconciles.Reconciles, h.reconciler.metrics.timeToReady, conditionCollector{h.reconciler.deps.Client})
	families, err := gatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*dto.MetricFamily{}
	for _, family := range families {
		found[family.GetName()] = family
	}
	if found["anamnesis_operator_time_to_ready_seconds"].GetMetric()[0].GetHistogram().GetSampleCount() != 1 {
		t.Error("the time to ready was not observed exactly once")
	}
	for _, name := range []string{"anamnesis_operator_reconciles_total", "anamnesis_operator_instances"} {
		if len(found[name].GetMetric()) == 0 {
			t.Errorf("metric %s not found", name)
		}
	}
}
