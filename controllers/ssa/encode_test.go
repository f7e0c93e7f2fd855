// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

func encodeConfigMap(t *testing.T, data map[string]string) *unstructured.Unstructured {
	t.Helper()
	desired, err := ToUnstructured(coreapply.ConfigMap("acme", "tenants").WithData(data))
	if err != nil {
		t.Fatal(err)
	}
	return desired
}

func TestToUnstructuredOmitsUnsetFields(t *testing.T) {
	t.Parallel()
	want := map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata":   map[string]any{"name": "acme", "namespace": "tenants"},
		"data":       map[string]any{"a": "1"},
	}
	if diff := cmp.Diff(want, encodeConfigMap(t, map[string]string{"a": "1"}).Object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestHashDiffersByValue(t *testing.T) {
	t.Parallel()
	one, err := Hash(map[string]int{"a": 1, "b": 2})
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Hash(map[string]int{"b": 2, "a": 1})
	other, _ := Hash(map[string]int{"a": 1, "b": 3})
	if one != again || one == other || len(one) != hashLength {
		t.Errorf("got hashes %q and %q for equal values, %q for another value", one, again, other)
	}
	if _, err := Hash(func() {}); err == nil {
		t.Error("Hash succeeded for a function")
	}
}
