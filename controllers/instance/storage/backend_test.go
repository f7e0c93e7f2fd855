// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"reflect"
	"testing"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// TestEveryStorageKindHasBackend checks that every kind of storage in the API has a
// backend.
func TestEveryStorageKindHasBackend(t *testing.T) {
	t.Parallel()
	if backend := ForInstance(&v1alpha1.Instance{}); backend != nil {
		t.Errorf("a spec without storage: got backend %T, want none", backend)
	}
	seen := map[Backend]string{}
	for field := range reflect.TypeFor[v1alpha1.Storage]().Fields() {
		instance := &v1alpha1.Instance{}
		reflect.ValueOf(&instance.Spec.Storage).Elem().FieldByIndex(field.Index).Set(reflect.New(field.Type.Elem()))
		backend := ForInstance(instance)
		if backend == nil || seen[backend] != "" {
			t.Errorf("spec.storage.%s has backend %T like %q: add a file for it here and in resources", field.Name, backend, seen[backend])
		}
		seen[backend] = field.Name
	}
}
