// SPDX-License-Identifier: Apache-2.0

package apply

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

// A server is an API server for one object that holds maps of scalars: it
// merges what is applied, lets a policy change the outcome, and counts.
type server struct {
	client.Writer
	object *unstructured.Unstructured
	// applied is what the manager sent last.
	applied map[string]any
	// policy changes each object that is written; nil for none.
	policy func(*unstructured.Unstructured)
	// refuse answers a write that would change an object; nil for none.
	refuse func(before, after *unstructured.Unstructured) error
	// requests counts all, version the writes.
	requests, version int
	// history is each version of the object that there was.
	history []*unstructured.Unstructured
}

// applied is what the client hands over to be applied.
type applied interface {
	UnstructuredContent() map[string]any
	SetUnstructuredContent(map[string]any)
	GetUID() types.UID
}

func (s *server) Apply(_ context.Context, object runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	s.requests++
	sent := object.(applied)
	if s.object != nil && sent.GetUID() != "" && sent.GetUID() != s.object.GetUID() {
		return apierrors.NewConflict(runtimeschema.GroupResource{}, s.object.GetName(), nil)
	}
	content := runtime.DeepCopyJSON(sent.UnstructuredContent())
	unstructured.RemoveNestedField(content, "metadata", "uid")
	if err := s.change(func(after *unstructured.Unstructured) {
		after.Object = merge(without(after.Object, s.applied, content), runtime.DeepCopyJSON(content))
	}); err != nil {
		return err
	}
	s.applied = content
	sent.SetUnstructuredContent(s.object.DeepCopy().Object)
	return nil
}

func (s *server) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	s.requests++
	if s.object != nil {
		return apierrors.NewAlreadyExists(runtimeschema.GroupResource{}, s.object.GetName())
	}
	sent := object.(*unstructured.Unstructured)
	s.applied = runtime.DeepCopyJSON(sent.Object)
	err := s.change(func(after *unstructured.Unstructured) { after.Object = runtime.DeepCopyJSON(sent.Object) })
	sent.Object = s.object.DeepCopy().Object
	return err
}

// change lets anybody write the object.
func (s *server) change(edit func(*unstructured.Unstructured)) error {
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
	case s.refuse != nil:
		if err := s.refuse(s.object, after); err != nil {
			return err
		}
	}
	s.version++
	after.SetResourceVersion(strconv.Itoa(s.version))
	s.object = after
	s.history = append(s.history, after)
	return nil
}

// live gives the object as a cache shows it that is some versions behind; nil
// when the cache has no object yet.
func (s *server) live(t *testing.T, behind int) client.Object {
	t.Helper()
	if behind >= len(s.history) {
		return nil
	}
	return typed(t, s.history[len(s.history)-1-behind])
}

// merge puts fields over others.
func merge(fields, over map[string]any) map[string]any {
	merged := maps.Clone(fields)
	for name, value := range over {
		branch, isBranch := value.(map[string]any)
		below, isBelow := merged[name].(map[string]any)
		if isBranch && isBelow {
			value = merge(below, branch)
		}
		merged[name] = value
	}
	return merged
}

// without leaves out the fields that were sent before and are not now.
func without(fields, before, now map[string]any) map[string]any {
	left := maps.Clone(fields)
	for name, value := range before {
		wanted, isWanted := now[name]
		if !isWanted {
			delete(left, name)
			continue
		}
		branch, isBranch := value.(map[string]any)
		below, isBelow := left[name].(map[string]any)
		next, isNext := wanted.(map[string]any)
		if isBranch && isBelow && isNext {
			left[name] = without(below, branch, next)
		}
	}
	return left
}

// set puts a value of a ConfigMap's data, or takes it away when it is empty.
func set(object *unstructured.Unstructured, key, value string) {
	if value == "" {
		unstructured.RemoveNestedField(object.Object, "data", key)
		return
	}
	if err := unstructured.SetNestedField(object.Object, value, "data", key); err != nil {
		panic(err)
	}
}
