// SPDX-License-Identifier: Apache-2.0

package children

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

// A Kind is a kind of object that Instances have.
type Kind struct {
	// Name of the kind, such as Deployment.
	Name string
	// Object and List are empty ones of the kind.
	Object client.Object
	List   client.ObjectList
}

// Names of kinds that steps ask for.
const (
	KindDeployment            = "Deployment"
	KindJob                   = "Job"
	KindPersistentVolumeClaim = "PersistentVolumeClaim"
	KindSecret                = "Secret"
)

// Kinds is every kind of object that an Instance may have, in the order of
// the inventory.
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

// A Key names a child within its Instance's namespace.
type Key struct{ Kind, Name string }

// String gives the key as people write it: Kind/name.
func (k Key) String() string { return k.Kind + "/" + k.Name }

// UIDIndex is the name of the index by which children are found.
const UIDIndex = "anamnesis.dev/instance-uid"

// UIDs gives what the index holds: the UID of the Instance that an object belongs to.
func UIDs(object client.Object) []string {
	if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == KindInstance {
		return []string{string(owner.UID)}
	}
	if uid := object.GetLabels()[v1alpha1.InstanceUIDLabel]; uid != "" {
		return []string{uid}
	}
	return nil
}

// Items gives the items of a list.
func Items(list client.ObjectList) []client.Object {
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

// NewOfKind gives an empty object of a kind.
func NewOfKind(name string) client.Object {
	for _, kind := range Kinds {
		if kind.Name == name {
			return kind.Object.DeepCopyObject().(client.Object)
		}
	}
	panic("kind " + name + " is missing from Kinds")
}

// Objects gives an empty object of each kind.
func Objects() []client.Object {
	objects := make([]client.Object, len(Kinds))
	for i, kind := range Kinds {
		objects[i] = kind.Object.DeepCopyObject().(client.Object)
	}
	return objects
}
