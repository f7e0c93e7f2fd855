// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// expectProblem checks of which kind an error is: "" for none, else the first
// letter's kind and the reason, as "stalled Reason" or "waiting Reason".
func expectProblem(t *testing.T, name string, err error, want string) {
	t.Helper()
	got := ""
	if found := asProblem(err); found != nil {
		got = "waiting " + found.reason
		if found.stalled {
			got = "stalled " + found.reason
		}
		if found.message == "" {
			t.Errorf("%s: a problem without a message", name)
		}
	} else if err != nil {
		got = "transient"
	}
	if got != want {
		t.Errorf("%s: got %q (%v), want %q", name, got, err, want)
	}
}

func acme() *v1alpha1.Instance {
	return &v1alpha1.Instance{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "tenants", UID: "new", Generation: 3}}
}

func TestJudgeOwner(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for name, test := range map[string]struct {
		owners []metav1.OwnerReference
		want   string
	}{
		"ours":                            {[]metav1.OwnerReference{{Kind: "Instance", Name: "acme", UID: "new", Controller: &yes}}, ""},
		"nobody's":                        {nil, "stalled ObjectNotOurs"},
		"somebody's":                      {[]metav1.OwnerReference{{Kind: "Other", Name: "acme", UID: "x", Controller: &yes}}, "stalled ObjectNotOurs"},
		"another Instance's":              {[]metav1.OwnerReference{{Kind: "Instance", Name: "emca", UID: "x", Controller: &yes}}, "stalled ObjectNotOurs"},
		"an earlier Instance's":           {[]metav1.OwnerReference{{Kind: "Instance", Name: "acme", UID: "old", Controller: &yes}}, "waiting ObjectBeingDeleted"},
		"ours, but not as its controller": {[]metav1.OwnerReference{{Kind: "Instance", Name: "acme", UID: "new", Controller: &no}}, "stalled ObjectNotOurs"},
	} {
		object := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "acme", OwnerReferences: test.owners}}
		err := judgeOwner(acme(), "Service", object)
		expectProblem(t, name, err, test.want)
		if err != nil && !strings.Contains(err.Error(), "Service acme") {
			t.Errorf("%s: %v does not name the object", name, err)
		}
	}
}

func TestJudgeClaim(t *testing.T) {
	t.Parallel()
	now := metav1.Now()
	for name, test := range map[string]struct {
		uid     string
		adopt   string
		deleted *metav1.Time
		want    string
	}{
		"ours":                       {uid: "new"},
		"ours and being deleted":     {uid: "new", deleted: &now, want: "stalled VolumeBeingDeleted"},
		"nobody's":                   {want: "stalled ObjectNotOurs"},
		"nobody's and adopt nothing": {adopt: "", want: "stalled ObjectNotOurs"},
		"retained":                   {uid: "old", want: "stalled DataOfAnotherInstance"},
		"retained and adopted":       {uid: "old", adopt: "old"},
		"another is adopted":         {uid: "old", adopt: "older", want: "stalled DataOfAnotherInstance"},
		"being deleted":              {uid: "old", adopt: "old", deleted: &now, want: "waiting ObjectBeingDeleted"},
	} {
		instance := acme()
		instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: test.adopt}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
			Name: "acme-data", DeletionTimestamp: test.deleted, Labels: map[string]string{v1alpha1.InstanceUIDLabel: test.uid},
		}}
		expectProblem(t, name, judgeClaim(instance, claim), test.want)
	}
}

func TestJudgeWrite(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "deployments"}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"invalid":       {apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "acme", nil), "stalled RefusedByAPIServer"},
		"a bad request": {apierrors.NewBadRequest("no"), "stalled RefusedByAPIServer"},
		"too large":     {apierrors.NewRequestEntityTooLargeError("no"), "stalled RefusedByAPIServer"},
		"forbidden":     {apierrors.NewForbidden(resource, "acme", errors.New("quota")), "stalled ForbiddenByAPIServer"},
		"a conflict":    {apierrors.NewConflict(resource, "acme", errors.New("x")), "transient"},
		"unavailable":   {apierrors.NewServiceUnavailable("x"), "transient"},
		"no answer":     {errors.New("connection refused"), "transient"},
		"wrapped":       {fmt.Errorf("applying: %w", apierrors.NewBadRequest("no")), "stalled RefusedByAPIServer"},
	} {
		expectProblem(t, name, judgeWrite("", test.err), test.want)
	}
}

func TestIsRace(t *testing.T) {
	t.Parallel()
	resource := schema.GroupResource{Resource: "secrets"}
	if !isRace(fmt.Errorf("x: %w", apierrors.NewConflict(resource, "a", nil))) || !isRace(apierrors.NewAlreadyExists(resource, "a")) {
		t.Error("a conflict, or what exists already, is a race")
	}
	if isRace(nil) || isRace(apierrors.NewNotFound(resource, "a")) || isRace(stalled("", "X", "x")) {
		t.Error("nothing else is a race")
	}
}
