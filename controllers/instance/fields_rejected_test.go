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
	p := newHarness(t)
	p.stop()
	p.createReferencedObjects()
	for _, field := range listFields(specSchema(t)) {
		if !field.isImmutable() && fieldHints[field.String()].rejection == "" {
			continue
		}
		if err := p.checkRejectedField(field); err != nil {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// checkRejectedField returns an error unless the API server rejects a field that cannot
// change or be set.
func (p *harness) checkRejectedField(f field) error {
	course, err := p.fieldSpecsFor(f)
	if err != nil {
		return err
	}
	hint := fieldHints[f.String()]
	if hint.rejection != "" {
		err := p.Create(p.t.Context(), p.unstructuredInstance("refused", course.first), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), hint.rejection) {
			return fmt.Errorf("got %w, want %q", err, hint.rejection)
		}
		return nil
	}
	for _, from := range []map[string]any{course.unset, course.first, course.second} {
		for _, to := range []map[string]any{course.unset, course.first, course.second} {
			if err := p.expectRejected(from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// expectRejected returns an error unless the API server rejects changing an Instance
// from one spec to another.
func (p *harness) expectRejected(from, to map[string]any) error {
	ctx := p.t.Context()
	instance, other := p.unstructuredInstance("unchanging", from), p.unstructuredInstance("other", to)
	if from == nil || to == nil {
		return nil
	}
	if err := p.Create(ctx, instance); err != nil {
		return err
	}
	defer func() {
		if err := p.Delete(ctx, instance); err != nil {
			p.t.Error(err)
		}
	}()
	if err := p.Create(ctx, other, client.DryRunAll); err != nil {
		return err
	}
	if equality.Semantic.DeepEqual(instance.Object["spec"], other.Object["spec"]) {
		return nil
	}
	edited := instance.DeepCopy()
	edited.Object["spec"] = other.Object["spec"]
	err := p.Update(ctx, edited, client.DryRunAll)
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "is immutable") {
		return fmt.Errorf("from %v to %v: got %w, want a rejection that names the immutable field", from, to, err)
	}
	return nil
}
