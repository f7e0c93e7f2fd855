// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestImmutableSpecFieldsRejectChanges(t *testing.T) {
	h := newHarness(t)
	h.stop()
	h.createReferencedObjects()
	for _, field := range listFields(specSchema(t)) {
		if !field.isImmutable() && fieldHints[field.String()].rejection == "" {
			continue
		}
		if err := h.checkRejectedField(field); err != nil {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// checkRejectedField returns an error unless the API server rejects a field that cannot
// change or be set.
func (h *harness) checkRejectedField(f field) error {
	specs, err := h.fieldSpecsFor(f)
	if err != nil {
		return err
	}
	hint := fieldHints[f.String()]
	if hint.rejection != "" {
		err := h.Create(h.t.Context(), h.unstructuredInstance("refused", specs.first), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), hint.rejection) {
			return fmt.Errorf("got %w, want %q", err, hint.rejection)
		}
		return nil
	}
	for _, from := range []map[string]any{specs.unset, specs.first, specs.second} {
		for _, to := range []map[string]any{specs.unset, specs.first, specs.second} {
			if err := h.expectRejected(from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// expectRejected returns an error unless the API server rejects changing an Instance
// from one spec to another.
func (h *harness) expectRejected(from, to map[string]any) error {
	ctx := h.t.Context()
	instance, other := h.unstructuredInstance("unchanging", from), h.unstructuredInstance("other", to)
	if from == nil || to == nil {
		return nil
	}
	if err := h.Create(ctx, instance); err != nil {
		return err
	}
	defer func() {
		if err := h.Delete(ctx, instance); err != nil {
			h.t.Error(err)
		}
	}()
	if err := h.Create(ctx, other, client.DryRunAll); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(instance.Object["spec"], other.Object["spec"]) {
		return nil
	}
	edited := instance.DeepCopy()
	edited.Object["spec"] = other.Object["spec"]
	err := h.Update(ctx, edited, client.DryRunAll)
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "is immutable") {
		return fmt.Errorf("from %v to %v: got %w, want a rejection that names the immutable field", from, to, err)
	}
	return nil
}
