// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is an apply configuration from a builder. Its name, namespace, kind and API
// version are always set.
type Object interface {
	runtime.ApplyConfiguration
	GetAPIVersion() *string
	GetKind() *string
	GetNamespace() *string
	GetName() *string
}

// AppendNonNil appends an object to a list unless the object is nil, that is, not desired.
func AppendNonNil[T interface {
	comparable
	Object
}](list []Object, object T) []Object {
	var zero T
	if object == zero {
		return list
	}
	return append(list, object)
}
