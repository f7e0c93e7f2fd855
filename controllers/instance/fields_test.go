// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// These tests set, change, revert and unset every field of the spec in the CRD.
// Reverting must restore the previous state, and every change must change an owned object.

// fieldWorkers is the number of operators that check fields concurrently.
const fieldWorkers = 4

func TestEverySpecFieldChangeIsReversible(t *testing.T) {
	var changing []field
	for _, field := range listFields(specSchema(t)) {
		if !field.isImmutable() && fieldHints[field.String()].rejection == "" {
			changing = append(changing, field)
		}
	}
	for worker := range fieldWorkers {
		t.Run(fmt.Sprint("share ", worker), func(t *testing.T) {
			t.Parallel()
			h := newHarnessWithoutOperator(t)
			h.caOverlap = time.Millisecond
			h.startOperator(serverImage)
			h.createReferencedObjects()
			for i := worker; i < len(changing); i += fieldWorkers {
				if err := h.checkField(changing[i]); err != nil {
					t.Errorf("%s: %v", changing[i], err)
				}
			}
		})
	}
}

func TestEveryHintMatchesSpecField(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, field := range listFields(specSchema(t)) {
		known[field.String()] = true
		if _, _, err := field.sampleValues(); err != nil {
			t.Error(err)
		}
	}
	for path := range fieldHints {
		if !known[path] {
			t.Errorf("hint for unknown field %s", path)
		}
	}
}

// fieldSpecs holds the specs that a field check applies.
type fieldSpecs struct{ unset, first, second map[string]any }

// fieldSpecsFor returns the specs for a field. unset is nil for a required field.
func (h *harness) fieldSpecsFor(f field) (specs fieldSpecs, err error) {
	kind := "external"
	if f.path[0].name == "storage" {
		kind = f.path[1].name
	}
	base := h.baseSpecs()[kind]
	if base == nil {
		return specs, fmt.Errorf("no base spec for storage kind %s: add one to baseSpecs", kind)
	}
	maps.Copy(base, fieldHints[f.String()].extraFields)
	first, second, err := f.sampleValues()
	if err != nil {
		return specs, err
	}
	if specs.first, err = f.withValue(base, first); err != nil {
		return specs, err
	}
	if specs.second, err = f.withValue(base, second); err != nil {
		return specs, err
	}
	if f.removableIndex() >= 0 {
		specs.unset, err = f.without(base)
	}
	return specs, err
}

// checkField applies a field's specs to an Instance in turn.
func (h *harness) checkField(f field) error {
	specs, err := h.fieldSpecsFor(f)
	if err != nil {
		return err
	}
	hint := fieldHints[f.String()]
	var before string
	if specs.unset != nil {
		if before, err = h.applySpecAndSettle(specs.unset, hint); err != nil {
			return fmt.Errorf("unsetting the field: %w", err)
		}
	}
	first, err := h.applySpecAndSettle(specs.first, hint)
	if err != nil {
		return fmt.Errorf("setting the field: %w", err)
	}
	second, err := h.applySpecAndSettle(specs.second, hint)
	if err != nil {
		return fmt.Errorf("changing the field: %w", err)
	}
	if err := checkEffect(hint, first, second); err != nil {
		return err
	}
	if _, err := h.applySpecAndWait(specs.first, nil, first); err != nil {
		return fmt.Errorf("reverting the field: %w", err)
	}
	if specs.unset == nil {
		return nil
	}
	if hint.conditionsWhenUnset != nil {
		before = ""
	}
	if _, err := h.applySpecAndWait(specs.unset, hint.conditionsWhenUnset, before); err != nil {
		return fmt.Errorf("unsetting the field again: %w", err)
	}
	return nil
}

func checkEffect(hint fieldHint, first, second string) error {
	switch {
	case hint.noEffectReason == "" && first == second:
		return errors.New("the field changes no owned object: if that is intended, set noEffectReason in its hint")
	case hint.noEffectReason != "" && first != second:
		return fmt.Errorf("the field changes an owned object although its hint sets noEffectReason (%s):\n%s", hint.noEffectReason, cmp.Diff(first, second))
	}
	return nil
}

func (h *harness) unstructuredInstance(name string, spec map[string]any) *unstructured.Unstructured {
	instance := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	instance.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Instance"))
	instance.SetNamespace(h.namespace)
	instance.SetName(name)
	return instance
}

// applySpecAndSettle applies a spec to the Instance and returns its owned objects once
// the change has taken full effect.
func (h *harness) applySpecAndSettle(spec map[string]any, hint fieldHint) (objects string, err error) {
	objects, err = h.applySpecAndWait(spec, nil, "")
	if err != nil || hint.delayReason == "" {
		return objects, err
	}
	h.waitUntilIdleFor(1500 * time.Millisecond)
	return h.applySpecAndWait(spec, nil, "")
}

// applySpecAndWait applies a spec to the Instance of its kind of storage and waits until
// the Instance shows the given conditions, or is ready if none are given. It returns the
// owned objects; if wanted is set, it waits until they match.
func (h *harness) applySpecAndWait(spec map[string]any, conditions []string, want string) (objects string, err error) {
	name := slices.Collect(maps.Keys(spec["storage"].(map[string]any)))[0]
	if err := h.applySpec(name, spec); err != nil {
		return "", fmt.Errorf("%w: check the hint of the field", err)
	}
	if len(conditions) == 0 {
		conditions = []string{"Ready=True"}
	}
	var state []string
	ctx, cancel := context.WithTimeout(h.t.Context(), eventuallyTimeout)
	defer cancel()
	err = wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		if state = h.conditionLines(name); !hasAllPrefixes(state, conditions) {
			return false, nil
		}
		objects = h.renderOwnedObjects(name)
		return want == "" || objects == want, nil
	})
	switch {
	case err == nil:
		return objects, nil
	case !hasAllPrefixes(state, conditions):
		return "", fmt.Errorf("got conditions %q, want %q: %s", state, conditions, h.conditionMessage(name, v1alpha1.ConditionReady))
	}
	return "", fmt.Errorf("owned objects (-want +got):\n%s", cmp.Diff(want, objects))
}

// hasAllPrefixes reports whether each prefix matches a line.
func hasAllPrefixes(lines, prefixes []string) bool {
	return !slices.ContainsFunc(prefixes, func(prefix string) bool {
		return !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, prefix) })
	})
}

func (h *harness) applySpec(name string, spec map[string]any) error {
	ctx := h.t.Context()
	if !h.get(name, &v1alpha1.Instance{}) {
		return h.Create(ctx, h.unstructuredInstance(name, spec))
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, eventuallyTimeout, true, func(context.Context) (bool, error) {
		instance := h.unstructuredInstance(name, nil)
		if err := h.Get(ctx, client.ObjectKeyFromObject(instance), instance); err != nil {
			return false, err
		}
		instance.Object["spec"] = spec
		err := h.Update(ctx, instance)
		return err == nil, ignoreConflict(err)
	})
}

func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}
