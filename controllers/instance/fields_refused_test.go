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

func TestEveryFieldOfTheSpecThatCannotChangeIsRefused(t *testing.T) {
	p := newPlatform(t)
	p.stop()
	p.furnish()
	for _, field := range fieldsOf(specSchema(t)) {
		if !field.isImmutable() && hints[field.String()].refused == "" {
			continue
		}
		if err := p.tryRefusedField(field); err != nil {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// tryRefusedField says whether a field that cannot change, or be set, is refused.
func (p *platform) tryRefusedField(f field) error {
	course, err := p.courseOf(f)
	if err != nil {
		return err
	}
	hint := hints[f.String()]
	if hint.refused != "" {
		err := p.Create(p.t.Context(), p.withSpec("refused", course.first), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), hint.refused) {
			return fmt.Errorf("got %w, want %q", err, hint.refused)
		}
		return nil
	}
	for _, from := range []map[string]any{course.without, course.first, course.second} {
		for _, to := range []map[string]any{course.without, course.first, course.second} {
			if err := p.expectRefusal(from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// expectRefusal says whether an Instance with one spec cannot get another one
// that means something else.
func (p *platform) expectRefusal(from, to map[string]any) error {
	ctx := p.t.Context()
	instance, other := p.withSpec("unchanging", from), p.withSpec("other", to)
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
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "cannot change") {
		return fmt.Errorf("from %v to %v: got %w, want a refusal that says what cannot change", from, to, err)
	}
	return nil
}
