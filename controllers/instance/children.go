// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A childKind is a kind of object that Instances have.
type childKind struct {
	name   string
	object client.Object
	list   client.ObjectList
}

// Names of kinds that steps ask for.
const (
	kindDeployment            = "Deployment"
	kindJob                   = "Job"
	kindPersistentVolumeClaim = "PersistentVolumeClaim"
	kindSecret                = "Secret"
)

// childKinds is every kind of object that an Instance may have, in the order of
// the inventory.
var childKinds = []childKind{
	{"ConfigMap", &corev1.ConfigMap{}, &corev1.ConfigMapList{}},
	{kindDeployment, &appsv1.Deployment{}, &appsv1.DeploymentList{}},
	{kindJob, &batchv1.Job{}, &batchv1.JobList{}},
	{"NetworkPolicy", &networkingv1.NetworkPolicy{}, &networkingv1.NetworkPolicyList{}},
	{kindPersistentVolumeClaim, &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolumeClaimList{}},
	{"PodDisruptionBudget", &policyv1.PodDisruptionBudget{}, &policyv1.PodDisruptionBudgetList{}},
	{kindSecret, &corev1.Secret{}, &corev1.SecretList{}},
	{"Service", &corev1.Service{}, &corev1.ServiceList{}},
	{"ServiceAccount", &corev1.ServiceAccount{}, &corev1.ServiceAccountList{}},
}

// childKey names a child within its Instance's namespace.
type childKey struct{ kind, name string }

// String gives the key as people write it: Kind/name.
func (k childKey) String() string { return k.kind + "/" + k.name }

// children are the objects that carry an Instance's UID. They are the cache's
// own and must not be changed.
type children map[childKey]client.Object

// child gives a child of a type, or nil.
func child[T client.Object](all children, kind, name string) T {
	found, _ := all[childKey{kind, name}].(T)
	return found
}

// instanceUIDIndex is the name of the index by which children are found.
const instanceUIDIndex = "anamnesis.dev/instance-uid"

// instanceUIDs is the index: the UID of the Instance that an object belongs to.
func instanceUIDs(object client.Object) []string {
	if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == kindInstance {
		return []string{string(owner.UID)}
	}
	if uid := object.GetLabels()[v1alpha1.InstanceUIDLabel]; uid != "" {
		return []string{uid}
	}
	return nil
}

// listChildren finds an Instance's children in the cache.
func listChildren(ctx context.Context, reader client.Reader, instance *v1alpha1.Instance) (children, error) {
	found := children{}
	for _, kind := range childKinds {
		list := kind.list.DeepCopyObject().(client.ObjectList)
		err := reader.List(ctx, list, client.InNamespace(instance.Namespace),
			client.MatchingFields{instanceUIDIndex: string(instance.UID)}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, fmt.Errorf("listing each %s of the Instance: %w", kind.name, err)
		}
		for _, object := range objectsOf(list) {
			found[childKey{kind.name, object.GetName()}] = object
		}
	}
	return found, nil
}

// objectsOf gives the items of a list.
func objectsOf(list client.ObjectList) []client.Object {
	var objects []client.Object
	err := meta.EachListItem(list, func(item runtime.Object) error {
		objects = append(objects, item.(client.Object))
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("%T is no list: %v", list, err))
	}
	return objects
}

// newChild gives an empty object of a kind.
func newChild(name string) client.Object {
	for _, kind := range childKinds {
		if kind.name == name {
			return kind.object.DeepCopyObject().(client.Object)
		}
	}
	panic("kind " + name + " is missing from childKinds")
}

// inventory names the children that there are, and those that were just made,
// less those that were deleted.
func inventory(found children, wanted, deleted map[childKey]bool) []v1alpha1.InventoryEntry {
	keys := map[childKey]bool{}
	for key := range found {
		keys[key] = true
	}
	for key := range wanted {
		keys[key] = true
	}
	var entries []v1alpha1.InventoryEntry
	for key := range keys {
		if !deleted[key] {
			entries = append(entries, v1alpha1.InventoryEntry{Kind: key.kind, Name: key.name})
		}
	}
	slices.SortFunc(entries, func(one, other v1alpha1.InventoryEntry) int {
		return cmp.Or(cmp.Compare(one.Kind, other.Kind), cmp.Compare(one.Name, other.Name))
	})
	return entries
}

// unwanted names the children that no step asked for, in a fixed order. Data is
// never among them: that goes only with the Instance.
func unwanted(found children, wanted map[childKey]bool) []childKey {
	var keys []childKey
	for key := range found {
		if !wanted[key] && key.kind != kindPersistentVolumeClaim {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(one, other childKey) int {
		return cmp.Or(cmp.Compare(one.kind, other.kind), cmp.Compare(one.name, other.name))
	})
	return keys
}
