// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

func TestIndexInstanceUID(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		object client.Object
		want   []string
	}{
		"by owner": {&corev1.Service{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(acme(), v1alpha1.GroupVersion.WithKind(KindInstance)),
		}}}, []string{"new"}},
		"by label":        {&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.InstanceUIDLabel: "old"}}}, []string{"old"}},
		"another owner's": {&corev1.Service{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&appsv1.Deployment{}, appsv1.SchemeGroupVersion.WithKind("Deployment"))}}}, nil},
		"no owner":        {&corev1.Service{}, nil},
	} {
		if diff := cmp.Diff(test.want, IndexInstanceUID(test.object)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestPrunableAndEntries(t *testing.T) {
	t.Parallel()
	set := New(Clients{}, acme())
	set.found = map[Key]client.Object{
		{"Service", "acme"}:                 &corev1.Service{},
		{"Secret", "acme-app-kiosk"}:        &corev1.Secret{},
		{"Secret", "acme-app-portal"}:       &corev1.Secret{},
		{"PersistentVolumeClaim", "a-data"}: &corev1.PersistentVolumeClaim{},
		{"Job", "acme-preflight-1"}:         nil,
	}
	set.desired = map[Key]bool{{"Service", "acme"}: true, {"Secret", "acme-app-portal"}: true, {"Deployment", "acme"}: true}
	prunable := set.Prunable()
	if diff := cmp.Diff([]Key{{"Job", "acme-preflight-1"}, {"Secret", "acme-app-kiosk"}}, prunable); diff != "" {
		t.Errorf("prunable (-want +got):\n%s", diff)
	}
	for _, key := range prunable {
		set.deleted[key] = true
	}
	want := []v1alpha1.InventoryEntry{
		{Kind: "Deployment", Name: "acme"},
		{Kind: "PersistentVolumeClaim", Name: "a-data"},
		{Kind: "Secret", Name: "acme-app-portal"},
		{Kind: "Service", Name: "acme"},
	}
	if diff := cmp.Diff(want, set.Entries()); diff != "" {
		t.Errorf("inventory (-want +got):\n%s", diff)
	}
}

func TestFindIgnoresOtherKinds(t *testing.T) {
	t.Parallel()
	set := New(Clients{}, acme())
	set.found[Key{"Service", "acme"}] = &corev1.Service{}
	if Find[*corev1.Service](set, "Service", "acme") == nil {
		t.Error("Find did not return the Service")
	}
	if Find[*appsv1.Deployment](set, "Service", "acme") != nil || Find[*corev1.Service](set, "Service", "other") != nil {
		t.Error("Find returned a missing object")
	}
}
