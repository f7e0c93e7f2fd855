// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"k8s.io/apimachinery/pkg/runtime"
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
