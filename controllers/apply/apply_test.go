// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestReason(t *testing.T) {
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
		got, err := Reason(sent, test.live)
		if err != nil || got != test.want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, test.want)
		}
	}
}

func TestApplyNamesTheObjectItMeans(t *testing.T) {
	t.Parallel()
	wanted := encode(t, map[string]string{"a": "1"})
	live := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "acme", UID: "live"}}
	failing := &recorder{err: errors.New("no")}
	applier := Applier{Client: failing, Manager: "test"}
	_, err := applier.Apply(t.Context(), wanted, live)
	if err == nil || !strings.Contains(err.Error(), "applying ConfigMap acme: no") {
		t.Errorf("got error %v", err)
	}
	if failing.uid != "live" {
		t.Errorf("sent the uid %q: an object that was replaced meanwhile would be overwritten", failing.uid)
	}
	if len(wanted.GetAnnotations()) > 0 {
		t.Error("what is wanted was changed")
	}
}

func TestApplyReplacesListsWhereBothHaveNoRoom(t *testing.T) {
	t.Parallel()
	wanted := encode(t, map[string]string{"a": "1"})
	live := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "acme", UID: "live"}}
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "acme", nil)
	for name, test := range map[string]struct {
		live      client.Object
		apply     error
		patch     error
		wantPatch bool
		wantErr   bool
	}{
		"taken":            {live, nil, nil, false, false},
		"no room for both": {live, invalid, nil, true, false},
		"wrong either way": {live, invalid, errors.New("no"), true, true},
		"wrong when made":  {nil, invalid, nil, false, true},
		"another trouble":  {live, errors.New("no"), nil, false, true},
	} {
		writer := &recorder{err: test.apply, patchErr: test.patch}
		applier := Applier{Client: writer, Manager: "test"}
		_, err := applier.Apply(t.Context(), wanted, test.live)
		if (err != nil) != test.wantErr || (writer.patch != "") != test.wantPatch {
			t.Errorf("%s: got error %v and patch %q", name, err, writer.patch)
		}
		if test.wantPatch && !strings.Contains(writer.patch, `"uid":"live"`) {
			t.Errorf("%s: the patch %s could change an object that was replaced meanwhile", name, writer.patch)
		}
		if test.wantErr && !errors.Is(err, test.apply) {
			t.Errorf("%s: got error %v, want what the apply was told", name, err)
		}
	}
}

// A recorder answers every apply and every patch with an error, and remembers
// the object's UID and the patch.
type recorder struct {
	client.Writer
	uid, patch    string
	err, patchErr error
}

func (r *recorder) Patch(_ context.Context, object client.Object, patch client.Patch, _ ...client.PatchOption) error {
	data, err := patch.Data(object)
	r.patch = string(data)
	return errors.Join(err, r.patchErr)
}

func (r *recorder) Apply(_ context.Context, object runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	if named, ok := object.(interface{ GetUID() types.UID }); ok {
		r.uid = string(named.GetUID())
	}
	return r.err
}
