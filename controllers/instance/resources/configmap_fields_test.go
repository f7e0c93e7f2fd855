// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// TestConfigurationHasFieldsOfSpec checks that the server's configuration has all fields of
// the spec's sections that are copied into it.
func TestConfigurationHasFieldsOfSpec(t *testing.T) {
	t.Parallel()
	for _, section := range []struct{ spec, config reflect.Type }{
		{reflect.TypeFor[v1alpha1.MonthlyCalls](), reflect.TypeFor[configv1alpha1.MonthlyCalls]()},
		{reflect.TypeFor[v1alpha1.Features](), reflect.TypeFor[configv1alpha1.Features]()},
		{reflect.TypeFor[v1alpha1.Prefill](), reflect.TypeFor[configv1alpha1.Prefill]()},
		{reflect.TypeFor[v1alpha1.Retention](), reflect.TypeFor[configv1alpha1.Retention]()},
		{reflect.TypeFor[v1alpha1.Page](), reflect.TypeFor[configv1alpha1.Page]()},
		{reflect.TypeFor[v1alpha1.PageColors](), reflect.TypeFor[configv1alpha1.Colors]()},
		{reflect.TypeFor[v1alpha1.CORS](), reflect.TypeFor[configv1alpha1.CORS]()},
	} {
		if diff := cmp.Diff(fieldNames(section.spec, "json"), fieldNames(section.config, "yaml")); diff != "" {
			t.Errorf("%s (-spec +configuration):\n%s", section.spec, diff)
		}
	}
}

// fieldNames returns the encoded names of a struct's fields, sorted.
func fieldNames(t reflect.Type, tag string) []string {
	var names []string
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get(tag), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
