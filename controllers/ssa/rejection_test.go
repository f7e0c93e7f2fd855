// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func invalidError(causes ...*field.Error) error {
	return apierrors.NewInvalid(runtimeschema.GroupKind{Kind: "Service"}, "acme", causes)
}

func TestImmutableFields(t *testing.T) {
	t.Parallel()
	template := field.Invalid(field.NewPath("spec", "template"), "x", "field is immutable")
	claim := field.Forbidden(field.NewPath("spec"), "spec is immutable after creation except resources.requests")
	shrunk := field.Forbidden(field.NewPath("spec", "resources"), "field can not be less than status.capacity")
	for name, test := range map[string]struct {
		err  error
		want []string
	}{
		"nothing":              {nil, nil},
		"another error":        {errors.New("field is immutable"), nil},
		"no causes":            {invalidError(), nil},
		"a template":           {invalidError(template), []string{"spec.template"}},
		"two fields":           {invalidError(template, claim), []string{"spec.template", "spec"}},
		"one that may change":  {invalidError(template, shrunk), nil},
		"only what may change": {invalidError(shrunk), nil},
	} {
		if diff := cmp.Diff(test.want, immutableFields(test.err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
