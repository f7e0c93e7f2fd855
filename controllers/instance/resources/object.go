// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"k8s.io/apimachinery/pkg/runtime"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Object is what every builder returns: an object to be applied on the server,
// with the names by which it is found. Name, namespace, kind and API version
// are always set.
type Object interface {
	runtime.ApplyConfiguration
	GetAPIVersion() *string
	GetKind() *string
	GetNamespace() *string
	GetName() *string
}

// Append adds an object to a list unless it is nil, that is, not wanted.
func Append[T interface {
	comparable
	Object
}](list []Object, object T) []Object {
	var none T
	if object == none {
		return list
	}
	return append(list, object)
}

// owned is the metadata of an object that goes when its Instance goes.
type owned[T any] interface {
	WithLabels(map[string]string) T
	WithOwnerReferences(...*metaapply.OwnerReferenceApplyConfiguration) T
}

// own labels an object and makes the Instance its controller.
func own[T owned[T]](object T, instance *v1alpha1.Instance) T {
	return object.WithLabels(Labels(instance)).WithOwnerReferences(OwnerReference(instance))
}

// OwnerReference is the controller reference that makes an object the
// Instance's own.
func OwnerReference(instance *v1alpha1.Instance) *metaapply.OwnerReferenceApplyConfiguration {
	return metaapply.OwnerReference().
		WithAPIVersion(v1alpha1.GroupVersion.String()).
		WithKind("Instance").
		WithName(instance.Name).
		WithUID(instance.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}
