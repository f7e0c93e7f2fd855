// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"

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

// A Kind is a kind of object that an Instance may own.
type Kind struct {
	// Name is the name of the kind, such as Deployment.
	Name string
	// Object and List are empty values of the kind.
	Object client.Object
	List   client.ObjectList
}

// Names of frequently used kinds.
const (
	KindDeployment            = "Deployment"
	KindJob                   = "Job"
	KindPersistentVolumeClaim = "PersistentVolumeClaim"
	KindSecret                = "Secret"
)

// Kinds lists every kind of object that an Instance may own, in inventory order.
var Kinds = []Kind{
	{"ConfigMap", &corev1.ConfigMap{}, &corev1.ConfigMapList{}},
	{KindDeployment, &appsv1.Deployment{}, &appsv1.DeploymentList{}},
	{KindJob, &batchv1.Job{}, &batchv1.JobList{}},
	{"NetworkPolicy", &networkingv1.NetworkPolicy{}, &networkingv1.NetworkPolicyList{}},
	{KindPersistentVolumeClaim, &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolumeClaimList{}},
	{"PodDisruptionBudget", &policyv1.PodDisruptionBudget{}, &policyv1.PodDisruptionBudgetList{}},
	{KindSecret, &corev1.Secret{}, &corev1.SecretList{}},
	{"Service", &corev1.Service{}, &corev1.ServiceList{}},
	{"ServiceAccount", &corev1.ServiceAccount{}, &corev1.ServiceAccountList{}},
}

// A Key identifies an owned object within its Instance's namespace.
type Key struct{ Kind, Name string }

// String returns the key as Kind/name.
func (k Key) String() string { return k.Kind + "/" + k.Name }

// InstanceUIDIndex is the name of the cache index of owned objects by Instance UID.
const InstanceUIDIndex = "anamnesis.dev/instance-uid"

// IndexInstanceUID returns the UID of the Instance that an object belongs to, for
// InstanceUIDIndex.
func IndexInstanceUID(object client.Object) []string {
	if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == KindInstance {
		return []string{string(owner.UID)}
	}
	if uid := object.GetLabels()[v1alpha1.InstanceUIDLabel]; uid != "" {
		return []string{uid}
	}
	return nil
}

// ListItems returns the items of a list.
func ListItems(list client.ObjectList) []client.Object {
	var objects []client.Object
	err := meta.EachListItem(list, func(item runtime.Object) error {
		objects = append(objects, item.(client.Object))
		return nil
	})
	if err != nil {
		panic(fmt.Sprintf("listing the items of %T: %v", list, err))
	}
	return objects
}

// NewObject returns an empty object of a kind.
func NewObject(name string) client.Object {
	for _, kind := range Kinds {
		if kind.Name == name {
			return kind.Object.DeepCopyObject().(client.Object)
		}
	}
	panic("kind " + name + " is missing from Kinds")
}

// NewObjects returns an empty object of each kind.
func NewObjects() []client.Object {
	objects := make([]client.Object, len(Kinds))
	for i, kind := range Kinds {
		objects[i] = kind.Object.DeepCopyObject().(client.Object)
	}
	return objects
}
