// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"context"
	"maps"
	"reflect"
	"strconv"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A fakeServer is an API server for one object made of maps of scalars. It merges
// applied fields, lets a policy change the result, and counts requests.
type fakeServer struct {
	client.Writer
	object *unstructured.Unstructured
	// lastApplied is what the manager sent last.
	lastApplied map[string]any
	// policy changes each object that is written. May be nil.
	policy func(*unstructured.Unstructured)
	// reject may reject a write that would change an object. May be nil.
	reject func(before, after *unstructured.Unstructured) error
	// requests counts all requests, version the writes.
	requests, version int
	// history holds every version of the object.
	history []*unstructured.Unstructured
}

// applyConfiguration is what the client passes to Apply.
type applyConfiguration interface {
	UnstructuredContent() map[string]any
	SetUnstructuredContent(map[string]any)
	GetUID() types.UID
}

func (s *fakeServer) Apply(_ context.Context, object runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	s.requests++
	sent := object.(applyConfiguration)
	if s.object != nil && sent.GetUID() != "" && sent.GetUID() != s.object.GetUID() {
		return apierrors.NewConflict(runtimeschema.GroupResource{}, s.object.GetName(), nil)
	}
	content := runtime.DeepCopyJSON(sent.UnstructuredContent())
	unstructured.RemoveNestedField(content, "metadata", "uid")
	if err := s.update(func(after *unstructured.Unstructured) {
		after.Object = mergeFields(withoutUnapplied(after.Object, s.lastApplied, content), runtime.DeepCopyJSON(content))
	}); err != nil {
		return err
	}
	s.lastApplied = content
	sent.SetUnstructuredContent(s.object.DeepCopy().Object)
	return nil
}

func (s *fakeServer) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	s.requests++
	if s.object != nil {
		return apierrors.NewAlreadyExists(runtimeschema.GroupResource{}, s.object.GetName())
	}
	sent := object.(*unstructured.Unstructured)
	s.lastApplied = runtime.DeepCopyJSON(sent.Object)
	err := s.update(func(after *unstructured.Unstructured) { after.Object = runtime.DeepCopyJSON(sent.Object) })
	sent.Object = s.object.DeepCopy().Object
	return err
}

// update writes the object as any client.
func (s *fakeServer) update(edit func(*unstructured.Unstructured)) error {
	after := &unstructured.Unstructured{Object: map[string]any{}}
	if s.object != nil {
		after = s.object.DeepCopy()
	}
	edit(after)
	if s.policy != nil {
		s.policy(after)
	}
	switch {
	case s.object == nil:
		after.SetUID("1")
	case reflect.DeepEqual(s.object.Object, after.Object):
		return nil
	case s.reject != nil:
		if err := s.reject(s.object, after); err != nil {
			return err
		}
	}
	s.version++
	after.SetResourceVersion(strconv.Itoa(s.version))
	s.object = after
	s.history = append(s.history, after)
	return nil
}

// cachedObject returns the object from a cache that lags some versions behind. Nil if
// the cache has no object yet.
func (s *fakeServer) cachedObject(t *testing.T, behind int) client.Object {
	t.Helper()
	if behind >= len(s.history) {
		return nil
	}
	return toTyped(t, s.history[len(s.history)-1-behind])
}

// mergeFields merges over into fields.
func mergeFields(fields, over map[string]any) map[string]any {
	merged := maps.Clone(fields)
	for name, value := range over {
		branch, isBranch := value.(map[string]any)
		below, isBelow := merged[name].(map[string]any)
		if isBranch && isBelow {
			value = mergeFields(below, branch)
		}
		merged[name] = value
	}
	return merged
}

// withoutUnapplied drops the fields that were sent before and are not sent now.
func withoutUnapplied(fields, before, now map[string]any) map[string]any {
	left := maps.Clone(fields)
	for name, value := range before {
		desired, isWanted := now[name]
		if !isWanted {
			delete(left, name)
			continue
		}
		branch, isBranch := value.(map[string]any)
		below, isBelow := left[name].(map[string]any)
		next, isNext := desired.(map[string]any)
		if isBranch && isBelow && isNext {
			left[name] = withoutUnapplied(below, branch, next)
		}
	}
	return left
}

// setData sets a value in a ConfigMap's data, or deletes it if the value is empty.
func setData(object *unstructured.Unstructured, key, value string) {
	if value == "" {
		unstructured.RemoveNestedField(object.Object, "data", key)
		return
	}
	if err := unstructured.SetNestedField(object.Object, value, "data", key); err != nil {
		panic(err)
	}
}
