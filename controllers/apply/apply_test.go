// SPDX-License-Identifier: Apache-2.0

package apply

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

func TestJudge(t *testing.T) {
	t.Parallel()
	sent := withHash(encode(t, map[string]string{"a": "1"}))
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
		"absent":                {nil, "it does not exist"},
		"as wanted":             {live(func(*corev1.ConfigMap) {}), ""},
		"with somebody's field": {live(func(object *corev1.ConfigMap) { object.Data["b"] = "2" }), ""},
		"changed":               {live(func(object *corev1.ConfigMap) { object.Data = map[string]string{"a": "2"} }), "somebody changed data.a"},
		"sent something else":   {live(func(object *corev1.ConfigMap) { object.Annotations = map[string]string{HashAnnotation: "other"} }), "what is wanted changed"},
		"not known to be sent":  {live(func(object *corev1.ConfigMap) { object.Annotations = nil }), "what is wanted changed"},
		"a field no longer sent": {live(func(object *corev1.ConfigMap) {
			object.Annotations = withHash(encode(t, map[string]string{"a": "1", "b": "2"})).GetAnnotations()
		}), "what is wanted changed"},
	} {
		applier := Applier{}
		got, _, err := applier.judge(sent, test.live)
		if err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}

func TestApplyNamesTheObjectItMeans(t *testing.T) {
	t.Parallel()
	wanted := encode(t, map[string]string{"a": "1"})
	writer := &server{}
	applier := Applier{Client: writer, Manager: "test"}
	if _, err := applier.Create(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	replaced := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "acme", UID: "gone"}}
	_, err := applier.Apply(t.Context(), wanted, replaced)
	if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), "applying ConfigMap acme: ") {
		t.Errorf("got error %v: an object that was replaced meanwhile would be overwritten", err)
	}
	if _, err := applier.Create(t.Context(), wanted); !apierrors.IsAlreadyExists(err) || !strings.Contains(err.Error(), "creating ConfigMap acme: ") {
		t.Errorf("got error %v: what was made by chance would be replaced", err)
	}
	if len(wanted.GetAnnotations()) > 0 {
		t.Error("what is wanted was changed")
	}
}

// A scene is a ConfigMap that is visited again and again.
type scene struct {
	*server
	t       *testing.T
	applier *Applier
	wanted  *unstructured.Unstructured
	// behind is how many versions the cache is behind.
	behind int
}

func newScene(t *testing.T, data map[string]string) *scene {
	t.Helper()
	s := &scene{server: &server{}, t: t, wanted: encode(t, data)}
	s.restart()
	return s
}

// restart is that of the operator, which forgets.
func (s *scene) restart() { s.applier = &Applier{Client: s.server, Manager: "test"} }

// visit gives the outcome of a visit and how many requests it took.
func (s *scene) visit() (Outcome, int) {
	s.t.Helper()
	before, versions := s.requests, len(s.history)
	live := s.live(s.t, s.behind)
	outcome, err := s.applier.Apply(s.t.Context(), s.wanted, live)
	if err != nil {
		s.t.Fatal(err)
	}
	if changed := len(s.history) > versions; s.behind == 0 && outcome.Changed != changed {
		s.t.Errorf("told that it changed: %v, want %v", outcome.Changed, changed)
	}
	return outcome, s.requests - before
}

// expect visits and checks for why something is sent, once, and which paths
// diverge.
func (s *scene) expect(when, reason string, diverging ...string) {
	s.t.Helper()
	outcome, requests := s.visit()
	var got []string
	if outcome.Divergence != nil {
		for _, each := range outcome.Divergence.Fields {
			got = append(got, each.Path)
		}
	}
	if diff := cmp.Diff(diverging, got); diff != "" {
		s.t.Errorf("%s: divergence (-want +got):\n%s", when, diff)
	}
	if outcome.Reason != reason || (requests > 0) != (reason != "") || requests > 1 {
		s.t.Errorf("%s: %d requests because %q, want because %q", when, requests, outcome.Reason, reason)
	}
}

// meddle is somebody's change of the live object.
func (s *scene) meddle(key, value string) {
	s.t.Helper()
	if err := s.change(func(object *unstructured.Unstructured) { set(object, key, value) }); err != nil {
		s.t.Fatal(err)
	}
}

// rewrite is a policy that puts a value of its own.
func rewrite(key, value string) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) { set(object, key, value) }
}

func TestPolicyThatRewritesIsToldAndNotFought(t *testing.T) {
	t.Parallel()
	s := newScene(t, map[string]string{"a": "1", "b": "1"})
	s.policy = rewrite("a", "mirror")
	s.expect("when it is made", reasonAbsent, "data.a")
	s.expect("next", "", "data.a")
	s.restart()
	s.expect("after a restart", "somebody changed data.a", "data.a")
	s.expect("next", "", "data.a")
	s.meddle("b", "2")
	s.expect("when another field was changed", "somebody changed data.a, data.b", "data.a")
	s.expect("next", "", "data.a")
	s.meddle("c", "others")
	s.expect("when somebody added a field", "", "data.a")
	s.wanted = encode(t, map[string]string{"a": "1", "b": "3"})
	s.expect("when something else is wanted", reasonChanged, "data.a")
	s.expect("next", "", "data.a")
	s.policy = rewrite("a", "other")
	s.meddle("c", "others again")
	s.expect("when the policy wants something else", "somebody changed data.a", "data.a")
	s.expect("next", "", "data.a")
	s.policy = nil
	s.expect("when the policy is gone and nobody wrote", "", "data.a")
	s.meddle("a", "somebody's")
	s.expect("when somebody wrote then", "somebody changed data.a")
	s.expect("next", "")
	if len(s.applier.memory.writes) > 0 {
		t.Errorf("remembers %v of an object that is as wanted", s.applier.memory.writes)
	}
}

func TestPolicyThatDropsIsToldAndNotFought(t *testing.T) {
	t.Parallel()
	s := newScene(t, map[string]string{"a": "1", "b": "1"})
	s.expect("when it is made", reasonAbsent)
	s.policy = func(object *unstructured.Unstructured) {
		set(object, "b", "")
		object.SetAnnotations(nil)
	}
	s.wanted = encode(t, map[string]string{"a": "2", "b": "1"})
	s.expect("when something else is wanted", reasonChanged, "data.b", "metadata.annotations."+HashAnnotation)
	s.expect("next", "", "data.b", "metadata.annotations."+HashAnnotation)
	s.restart()
	s.expect("after a restart", reasonChanged, "data.b", "metadata.annotations."+HashAnnotation)
	s.expect("next", "", "data.b", "metadata.annotations."+HashAnnotation)
}

func TestPolicyOnWhatIsCreated(t *testing.T) {
	t.Parallel()
	s := newScene(t, map[string]string{"a": "1"})
	s.policy = rewrite("a", "mirror")
	outcome, err := s.applier.Create(t.Context(), s.wanted)
	if err != nil || outcome.Reason != reasonAbsent || outcome.Divergence == nil {
		t.Fatalf("got %+v, %v", outcome, err)
	}
	s.expect("next", "", "data.a")
}

func TestDivergenceThatNobodyCanChange(t *testing.T) {
	t.Parallel()
	s := newScene(t, map[string]string{"a": "1"})
	s.policy = rewrite("a", "mirror")
	s.expect("when it is made", reasonAbsent, "data.a")
	s.policy = nil
	s.refuse = func(before, after *unstructured.Unstructured) error {
		one, _, _ := unstructured.NestedString(before.Object, "data", "a")
		if other, _, _ := unstructured.NestedString(after.Object, "data", "a"); one == other {
			return nil
		}
		causes := field.ErrorList{field.Invalid(field.NewPath("data", "a"), "1", "field is immutable")}
		return apierrors.NewInvalid(runtimeschema.GroupKind{Kind: "ConfigMap"}, "acme", causes)
	}
	s.restart()
	s.expect("after a restart", "somebody changed data.a", "data.a")
	s.expect("next", "", "data.a")
	outcome, _ := s.visit()
	if !strings.Contains(outcome.Divergence.String(), "; nobody can change data.a") {
		t.Errorf("got %q, which does not say that it cannot be changed", outcome.Divergence)
	}
	s.wanted = encode(t, map[string]string{"a": "2"})
	if _, err := s.applier.Apply(t.Context(), s.wanted, s.live(t, 0)); !apierrors.IsInvalid(err) {
		t.Errorf("got error %v when what cannot be changed is wanted otherwise", err)
	}
}

func TestCacheThatIsBehindIsNoDivergence(t *testing.T) {
	t.Parallel()
	s := newScene(t, map[string]string{"a": "1"})
	s.expect("when it is made", reasonAbsent)
	s.wanted = encode(t, map[string]string{"a": "2"})
	s.expect("when something else is wanted", reasonChanged)
	s.behind = 1
	s.expect("when the cache does not show it", "")
	s.wanted = encode(t, map[string]string{"a": "1"})
	s.expect("when the first is wanted again, which the cache shows", reasonChanged)
	s.behind = 2
	s.expect("next", "")
	s.behind = 1
	s.expect("when the cache shows the second", "")
	s.behind = 0
	s.expect("when the cache shows the last", "")
	s.meddle("a", "3")
	s.behind = 1
	s.expect("before the cache shows what somebody changed", "")
	s.behind = 0
	s.expect("when it does", "somebody changed data.a")
	s.behind = 2
	s.expect("when it shows neither", "")
	s.behind = 1
	s.expect("when it shows only what somebody changed", "")
	s.behind = 0
	s.expect("in the end", "")
}

func TestCacheThatIsBehindForEverIsBelieved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, map[string]string{"a": "1"})
		s.expect("when it is made", reasonAbsent)
		s.wanted = encode(t, map[string]string{"a": "2"})
		s.expect("when something else is wanted", reasonChanged)
		s.behind = 1
		time.Sleep(patience - time.Second)
		s.expect("soon", "")
		time.Sleep(2 * time.Second)
		s.expect("late", "somebody changed data.a, metadata.annotations."+HashAnnotation)
		s.expect("next", "")
	})
}

// TestApplyGoesByWhatCameBack is about an API server that shows the same object
// otherwise than the cache, which must end in one request all the same.
func TestApplyGoesByWhatCameBack(t *testing.T) {
	t.Parallel()
	s := newScene(t, map[string]string{"a": "1"})
	s.expect("when it is made", reasonAbsent)
	s.history[0] = s.history[0].DeepCopy()
	set(s.history[0], "a", "only in the cache")
	s.expect("first", "somebody changed data.a", "data.a")
	s.expect("next", "", "data.a")
}

func TestNoMoreIsRememberedThanThereIs(t *testing.T) {
	t.Parallel()
	s := newScene(t, map[string]string{"a": "1"})
	s.policy = rewrite("a", "mirror")
	s.expect("when it is made", reasonAbsent, "data.a")
	s.applier.forget(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "another"}})
	s.applier.forget("no object")
	if len(s.applier.memory.writes) != 1 {
		t.Fatalf("remembers %d objects, want 1", len(s.applier.memory.writes))
	}
	s.applier.forget(toolscache.DeletedFinalStateUnknown{Obj: s.live(t, 0)})
	if len(s.applier.memory.writes) > 0 {
		t.Error("remembers an object that is gone")
	}
}

// TestVisitsAtTheSameTime is for the race detector.
func TestVisitsAtTheSameTime(t *testing.T) {
	t.Parallel()
	var visits sync.WaitGroup
	applier := &Applier{Client: echo{}, Manager: "test"}
	for worker := range 8 {
		visits.Go(func() {
			for visit := range 50 {
				object := encode(t, map[string]string{"a": strconv.Itoa(visit)})
				object.SetName(strconv.Itoa(worker))
				live := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: types.UID(object.GetName()), ResourceVersion: "1"}}
				if _, err := applier.Apply(t.Context(), object, live); err != nil {
					t.Error(err)
				}
				applier.forget(live)
			}
		})
	}
	visits.Wait()
	if len(applier.memory.writes) > 0 {
		t.Errorf("remembers %d objects that are gone", len(applier.memory.writes))
	}
}

// An echo takes every object as it is sent.
type echo struct{ client.Writer }

func (echo) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return nil
}

func TestApplyFails(t *testing.T) {
	t.Parallel()
	s := newScene(t, map[string]string{"a": "1"})
	s.expect("when it is made", reasonAbsent)
	s.refuse = func(_, _ *unstructured.Unstructured) error { return errors.New("no") }
	s.wanted = encode(t, map[string]string{"a": "2"})
	for range 2 {
		_, err := s.applier.Apply(t.Context(), s.wanted, s.live(t, 0))
		if want := "applying ConfigMap acme: no"; fmt.Sprint(err) != want {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
	s.refuse = nil
	s.expect("when it may", reasonChanged)
}
