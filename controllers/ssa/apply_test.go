// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	sent := withHashAnnotation(encodeConfigMap(t, map[string]string{"a": "1"}))
	live := func(change func(*corev1.ConfigMap)) client.Object {
		object := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "tenants", UID: "1", Annotations: sent.GetAnnotations()},
			Data:       map[string]string{"a": "1"},
		}
		change(object)
		return object
	}
	for name, test := range map[string]struct {
		live client.Object
		want string
	}{
		"absent":               {nil, "object does not exist"},
		"as wanted":            {live(func(*corev1.ConfigMap) {}), ""},
		"with a foreign field": {live(func(object *corev1.ConfigMap) { object.Data["b"] = "2" }), ""},
		"changed":              {live(func(object *corev1.ConfigMap) { object.Data = map[string]string{"a": "2"} }), "drifted fields: data.a"},
		"sent something else":  {live(func(object *corev1.ConfigMap) { object.Annotations = map[string]string{HashAnnotation: "other"} }), "desired state changed"},
		"not known to be sent": {live(func(object *corev1.ConfigMap) { object.Annotations = nil }), "desired state changed"},
		"a field no longer sent": {live(func(object *corev1.ConfigMap) {
			object.Annotations = withHashAnnotation(encodeConfigMap(t, map[string]string{"a": "1", "b": "2"})).GetAnnotations()
		}), "desired state changed"},
	} {
		applier := Applier{}
		got, _, err := applier.decide(sent, test.live)
		if err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}

func TestWritesConflictWithReplacedObject(t *testing.T) {
	t.Parallel()
	desired := encodeConfigMap(t, map[string]string{"a": "1"})
	writer := &fakeServer{}
	applier := Applier{Client: writer, FieldManager: "test"}
	if _, err := applier.Create(t.Context(), desired); err != nil {
		t.Fatal(err)
	}
	replaced := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "acme", UID: "gone"}}
	_, err := applier.Apply(t.Context(), desired, replaced)
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), "applying ConfigMap acme: ") {
		t.Errorf("got error %v, want a conflict for a replaced object", err)
	}
	if _, err := applier.Create(t.Context(), desired); !apierrors.IsAlreadyExists(err) || !strings.Contains(err.Error(), "creating ConfigMap acme: ") {
		t.Errorf("got error %v, want AlreadyExists for an existing object", err)
	}
	if len(desired.GetAnnotations()) > 0 {
		t.Error("Apply modified the desired object")
	}
}

// An applyFixture is a ConfigMap that is reconciled repeatedly.
type applyFixture struct {
	*fakeServer
	t       *testing.T
	applier *Applier
	desired *unstructured.Unstructured
	// cacheLag is the number of versions by which the cache lags.
	cacheLag int
}

func newApplyFixture(t *testing.T, data map[string]string) *applyFixture {
	t.Helper()
	s := &applyFixture{fakeServer: &fakeServer{}, t: t, desired: encodeConfigMap(t, data)}
	s.restart()
	return s
}

// restart simulates a restart of the operator, which loses its memory.
func (f *applyFixture) restart() { f.applier = &Applier{Client: f.fakeServer, FieldManager: "test"} }

// reconcile returns the outcome of a reconcile and its number of requests.
func (f *applyFixture) reconcile() (Outcome, int) {
	f.t.Helper()
	before, versions := f.requests, len(f.history)
	live := f.cachedObject(f.t, f.cacheLag)
	outcome, err := f.applier.Apply(f.t.Context(), f.desired, live)
	if err != nil {
		f.t.Fatal(err)
	}
	if changed := len(f.history) > versions; f.cacheLag == 0 && outcome.Changed != changed {
		f.t.Errorf("got changed %v, want %v", outcome.Changed, changed)
	}
	return outcome, f.requests - before
}

// expectApply reconciles, and checks the reason for the single write and the drifted
// paths.
func (f *applyFixture) expectApply(when, reason string, diverging ...string) {
	f.t.Helper()
	outcome, requests := f.reconcile()
	var got []string
	if outcome.Drift != nil {
		for _, each := range outcome.Drift.Fields {
			got = append(got, each.Path)
		}
	}
	if diff := cmp.Diff(diverging, got); diff != "" {
		f.t.Errorf("%s: drift (-want +got):\n%s", when, diff)
	}
	if outcome.Reason != reason || (requests > 0) != (reason != "") || requests > 1 {
		f.t.Errorf("%s: got %d requests with reason %q, want reason %q", when, requests, outcome.Reason, reason)
	}
}

// editLive simulates another client's change of the live object.
func (f *applyFixture) editLive(key, value string) {
	f.t.Helper()
	if err := f.update(func(object *unstructured.Unstructured) { setData(object, key, value) }); err != nil {
		f.t.Fatal(err)
	}
}

// overridePolicy returns a policy that sets its own value.
func overridePolicy(key, value string) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) { setData(object, key, value) }
}

func TestRewritingPolicyIsReportedAsDrift(t *testing.T) {
	t.Parallel()
	s := newApplyFixture(t, map[string]string{"a": "1", "b": "1"})
	s.policy = overridePolicy("a", "mirror")
	s.expectApply("when it is made", reasonNotFound, "data.a")
	s.expectApply("next", "", "data.a")
	s.restart()
	s.expectApply("after a restart", "drifted fields: data.a", "data.a")
	s.expectApply("next", "", "data.a")
	s.editLive("b", "2")
	s.expectApply("when another field was changed", "drifted fields: data.a, data.b", "data.a")
	s.expectApply("next", "", "data.a")
	s.editLive("c", "others")
	s.expectApply("when another manager added a field", "", "data.a")
	s.desired = encodeConfigMap(t, map[string]string{"a": "1", "b": "3"})
	s.expectApply("when something else is wanted", reasonDesiredChanged, "data.a")
	s.expectApply("next", "", "data.a")
	s.policy = overridePolicy("a", "other")
	s.editLive("c", "others again")
	s.expectApply("when the policy wants something else", "drifted fields: data.a", "data.a")
	s.expectApply("next", "", "data.a")
	s.policy = nil
	s.expectApply("when the policy is gone without a write", "", "data.a")
	s.editLive("a", "foreign")
	s.expectApply("when another manager wrote then", "drifted fields: data.a")
	s.expectApply("next", "")
	if len(s.applier.writes.records) > 0 {
		t.Errorf("write cache holds %v of an object without drift", s.applier.writes.records)
	}
}

func TestDroppingPolicyIsReportedAsDrift(t *testing.T) {
	t.Parallel()
	s := newApplyFixture(t, map[string]string{"a": "1", "b": "1"})
	s.expectApply("when it is made", reasonNotFound)
	s.policy = func(object *unstructured.Unstructured) {
		setData(object, "b", "")
		object.SetAnnotations(nil)
	}
	s.desired = encodeConfigMap(t, map[string]string{"a": "2", "b": "1"})
	s.expectApply("when something else is wanted", reasonDesiredChanged, "data.b", "metadata.annotations."+HashAnnotation)
	s.expectApply("next", "", "data.b", "metadata.annotations."+HashAnnotation)
	s.restart()
	s.expectApply("after a restart", reasonDesiredChanged, "data.b", "metadata.annotations."+HashAnnotation)
	s.expectApply("next", "", "data.b", "metadata.annotations."+HashAnnotation)
}

func TestCreateReportsDrift(t *testing.T) {
	t.Parallel()
	s := newApplyFixture(t, map[string]string{"a": "1"})
	s.policy = overridePolicy("a", "mirror")
	outcome, err := s.applier.Create(t.Context(), s.desired)
	if err != nil || outcome.Reason != reasonNotFound || outcome.Drift == nil {
		t.Fatalf("got outcome %+v, error %v", outcome, err)
	}
	s.expectApply("next", "", "data.a")
}

func TestImmutableFieldIsReportedAsDrift(t *testing.T) {
	t.Parallel()
	s := newApplyFixture(t, map[string]string{"a": "1"})
	s.policy = overridePolicy("a", "mirror")
	s.expectApply("when it is made", reasonNotFound, "data.a")
	s.policy = nil
	s.reject = func(before, after *unstructured.Unstructured) error {
		one, _, _ := unstructured.NestedString(before.Object, "data", "a")
		if other, _, _ := unstructured.NestedString(after.Object, "data", "a"); one == other {
			return nil
		}
		causes := field.ErrorList{field.Invalid(field.NewPath("data", "a"), "1", "field is immutable")}
		return apierrors.NewInvalid(runtimeschema.GroupKind{Kind: "ConfigMap"}, "acme", causes)
	}
	s.restart()
	s.expectApply("after a restart", "drifted fields: data.a", "data.a")
	s.expectApply("next", "", "data.a")
	outcome, _ := s.reconcile()
	if !strings.Contains(outcome.Drift.String(), "; immutable fields: data.a") {
		t.Errorf("got drift %q, want the immutable fields", outcome.Drift)
	}
	s.desired = encodeConfigMap(t, map[string]string{"a": "2"})
	if _, err := s.applier.Apply(t.Context(), s.desired, s.cachedObject(t, 0)); !apierrors.IsInvalid(err) {
		t.Errorf("got error %v after a change of an immutable field", err)
	}
}

func TestStaleCacheIsNotDrift(t *testing.T) {
	t.Parallel()
	s := newApplyFixture(t, map[string]string{"a": "1"})
	s.expectApply("when it is made", reasonNotFound)
	s.desired = encodeConfigMap(t, map[string]string{"a": "2"})
	s.expectApply("when something else is wanted", reasonDesiredChanged)
	s.cacheLag = 1
	s.expectApply("when the cache does not show it", "")
	s.desired = encodeConfigMap(t, map[string]string{"a": "1"})
	s.expectApply("when the first is wanted again, which the cache shows", reasonDesiredChanged)
	s.cacheLag = 2
	s.expectApply("next", "")
	s.cacheLag = 1
	s.expectApply("when the cache shows the second", "")
	s.cacheLag = 0
	s.expectApply("when the cache shows the last", "")
	s.editLive("a", "3")
	s.cacheLag = 1
	s.expectApply("before the cache shows another manager's change", "")
	s.cacheLag = 0
	s.expectApply("when it does", "drifted fields: data.a")
	s.cacheLag = 2
	s.expectApply("when it shows neither", "")
	s.cacheLag = 1
	s.expectApply("when it shows only another manager's change", "")
	s.cacheLag = 0
	s.expectApply("in the end", "")
}

func TestStaleCacheIsTrustedAfterMaxLag(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newApplyFixture(t, map[string]string{"a": "1"})
		s.expectApply("when it is made", reasonNotFound)
		s.desired = encodeConfigMap(t, map[string]string{"a": "2"})
		s.expectApply("when something else is wanted", reasonDesiredChanged)
		s.cacheLag = 1
		time.Sleep(maxCacheLag - time.Second)
		s.expectApply("soon", "")
		time.Sleep(2 * time.Second)
		s.expectApply("late", "drifted fields: data.a, metadata.annotations."+HashAnnotation)
		s.expectApply("next", "")
	})
}

// TestApplyComparesReturnedObject covers an API server whose response differs from the
// cache for the same object. Still, only one request may follow.
func TestApplyComparesReturnedObject(t *testing.T) {
	t.Parallel()
	s := newApplyFixture(t, map[string]string{"a": "1"})
	s.expectApply("when it is made", reasonNotFound)
	s.history[0] = s.history[0].DeepCopy()
	setData(s.history[0], "a", "only in the cache")
	s.expectApply("first", "drifted fields: data.a", "data.a")
	s.expectApply("next", "", "data.a")
}

func TestDeletedObjectIsEvicted(t *testing.T) {
	t.Parallel()
	s := newApplyFixture(t, map[string]string{"a": "1"})
	s.policy = overridePolicy("a", "mirror")
	s.expectApply("when it is made", reasonNotFound, "data.a")
	s.applier.evict(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "another"}})
	s.applier.evict("no object")
	if len(s.applier.writes.records) != 1 {
		t.Fatalf("write cache holds %d objects, want 1", len(s.applier.writes.records))
	}
	s.applier.evict(toolscache.DeletedFinalStateUnknown{Obj: s.cachedObject(t, 0)})
	if len(s.applier.writes.records) > 0 {
		t.Error("write cache holds a deleted object")
	}
}

// TestConcurrentApply is meant for the race detector.
func TestConcurrentApply(t *testing.T) {
	t.Parallel()
	var visits sync.WaitGroup
	applier := &Applier{Client: echoWriter{}, FieldManager: "test"}
	for worker := range 8 {
		visits.Go(func() {
			for visit := range 50 {
				object := encodeConfigMap(t, map[string]string{"a": strconv.Itoa(visit)})
				object.SetName(strconv.Itoa(worker))
				live := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: types.UID(object.GetName()), ResourceVersion: "1"}}
				if _, err := applier.Apply(t.Context(), object, live); err != nil {
					t.Error(err)
				}
				applier.evict(live)
			}
		})
	}
	visits.Wait()
	if len(applier.writes.records) > 0 {
		t.Errorf("write cache holds %d deleted objects", len(applier.writes.records))
	}
}

// An echoWriter accepts every object as sent.
type echoWriter struct{ client.Writer }

func (echoWriter) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return nil
}

func TestApplyReturnsErrors(t *testing.T) {
	t.Parallel()
	s := newApplyFixture(t, map[string]string{"a": "1"})
	s.expectApply("when it is made", reasonNotFound)
	s.reject = func(_, _ *unstructured.Unstructured) error { return errors.New("no") }
	s.desired = encodeConfigMap(t, map[string]string{"a": "2"})
	for range 2 {
		_, err := s.applier.Apply(t.Context(), s.desired, s.cachedObject(t, 0))
		if want := "applying ConfigMap acme: no"; fmt.Sprint(err) != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	s.reject = nil
	s.expectApply("when it may", reasonDesiredChanged)
}
