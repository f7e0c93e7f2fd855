// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

func TestInstanceUIDs(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		object client.Object
		want   []string
	}{
		"by owner": {&corev1.Service{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{
			*metav1.NewControllerRef(acme(), v1alpha1.GroupVersion.WithKind(kindInstance)),
		}}}, []string{"new"}},
		"by label":        {&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.InstanceUIDLabel: "old"}}}, []string{"old"}},
		"somebody else's": {&corev1.Service{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&appsv1.Deployment{}, appsv1.SchemeGroupVersion.WithKind("Deployment"))}}}, nil},
		"nobody's":        {&corev1.Service{}, nil},
	} {
		if diff := cmp.Diff(test.want, instanceUIDs(test.object)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestUnwantedAndInventory(t *testing.T) {
	t.Parallel()
	key := func(kind, name string) childKey { return childKey{kind, name} }
	found := children{
		key("Service", "acme"):                 &corev1.Service{},
		key("Secret", "acme-app-kiosk"):        &corev1.Secret{},
		key("Secret", "acme-app-portal"):       &corev1.Secret{},
		key("PersistentVolumeClaim", "a-data"): &corev1.PersistentVolumeClaim{},
		key("Job", "acme-preflight-1"):         nil,
	}
	wanted := map[childKey]bool{key("Service", "acme"): true, key("Secret", "acme-app-portal"): true, key("Deployment", "acme"): true}
	leaving := unwanted(found, wanted)
	if diff := cmp.Diff([]childKey{key("Job", "acme-preflight-1"), key("Secret", "acme-app-kiosk")}, leaving, cmp.AllowUnexported(childKey{})); diff != "" {
		t.Errorf("unwanted (-want +got):\n%s", diff)
	}
	deleted := map[childKey]bool{}
	for _, key := range leaving {
		deleted[key] = true
	}
	want := []v1alpha1.InventoryEntry{
		{Kind: "Deployment", Name: "acme"},
		{Kind: "PersistentVolumeClaim", Name: "a-data"},
		{Kind: "Secret", Name: "acme-app-portal"},
		{Kind: "Service", Name: "acme"},
	}
	if diff := cmp.Diff(want, inventory(found, wanted, deleted)); diff != "" {
		t.Errorf("inventory (-want +got):\n%s", diff)
	}
}

func TestChildOfAnotherKindIsNone(t *testing.T) {
	t.Parallel()
	found := children{childKey{"Service", "acme"}: &corev1.Service{}}
	if child[*corev1.Service](found, "Service", "acme") == nil {
		t.Error("the Service was not found")
	}
	if child[*appsv1.Deployment](found, "Service", "acme") != nil || child[*corev1.Service](found, "Service", "other") != nil {
		t.Error("found what is not there")
	}
}
