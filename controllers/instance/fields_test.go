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

// Every field of the spec, as the CRD has them, is set, changed, changed back and
// left out. What was before is then so again; and some child tells of each.

// fieldWorkers is how many operators work through the fields beside each other.
const fieldWorkers = 4

func TestEveryFieldOfTheSpecIsChangedAndChangedBack(t *testing.T) {
	var changing []field
	for _, field := range fieldsOf(specSchema(t)) {
		if !field.isImmutable() && hints[field.String()].refused == "" {
			changing = append(changing, field)
		}
	}
	for worker := range fieldWorkers {
		t.Run(fmt.Sprint("share ", worker), func(t *testing.T) {
			t.Parallel()
			p := foundPlatform(t)
			p.overlap = time.Millisecond
			p.startOperator(serverImage)
			p.furnish()
			for i := worker; i < len(changing); i += fieldWorkers {
				if err := p.tryField(changing[i]); err != nil {
					t.Errorf("%s: %v", changing[i], err)
				}
			}
		})
	}
}

func TestEveryHintIsOfAField(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, field := range fieldsOf(specSchema(t)) {
		known[field.String()] = true
		if _, _, err := field.values(); err != nil {
			t.Error(err)
		}
	}
	for path := range hints {
		if !known[path] {
			t.Errorf("hint for %s: the CRD has no such field", path)
		}
	}
}

// A course is the specs that a field goes through.
type course struct{ without, first, second map[string]any }

// courseOf gives them; without is nil for a field that must always be there.
func (p *platform) courseOf(f field) (c course, err error) {
	kind := "external"
	if f.way[0].name == "storage" {
		kind = f.way[1].name
	}
	ground := p.grounds()[kind]
	if ground == nil {
		return c, fmt.Errorf("there is no ground to try it on: add one for storage of kind %s to grounds", kind)
	}
	maps.Copy(ground, hints[f.String()].beside)
	first, second, err := f.values()
	if err != nil {
		return c, err
	}
	if c.first, err = f.with(ground, first); err != nil {
		return c, err
	}
	if c.second, err = f.with(ground, second); err != nil {
		return c, err
	}
	if f.removable() >= 0 {
		c.without, err = f.without(ground)
	}
	return c, err
}

// tryField takes an Instance through the course of a field.
func (p *platform) tryField(f field) error {
	course, err := p.courseOf(f)
	if err != nil {
		return err
	}
	hint := hints[f.String()]
	var before string
	if course.without != nil {
		if before, err = p.settleAt(course.without, hint); err != nil {
			return fmt.Errorf("without it: %w", err)
		}
	}
	first, err := p.settleAt(course.first, hint)
	if err != nil {
		return fmt.Errorf("set: %w", err)
	}
	second, err := p.settleAt(course.second, hint)
	if err != nil {
		return fmt.Errorf("changed: %w", err)
	}
	if err := judgeTelling(hint, first, second); err != nil {
		return err
	}
	if _, err := p.comeTo(course.first, nil, first); err != nil {
		return fmt.Errorf("changed back: %w", err)
	}
	if course.without == nil {
		return nil
	}
	if hint.leftOut != nil {
		before = ""
	}
	if _, err := p.comeTo(course.without, hint.leftOut, before); err != nil {
		return fmt.Errorf("left out again: %w", err)
	}
	return nil
}

func judgeTelling(hint hint, first, second string) error {
	switch {
	case hint.silent == "" && first == second:
		return errors.New("no child changes with it: who heeds it? If nobody is to, say so in its hint")
	case hint.silent != "" && first != second:
		return fmt.Errorf("its hint says that no child changes with it (%s):\n%s", hint.silent, cmp.Diff(first, second))
	}
	return nil
}

func (p *platform) withSpec(name string, spec map[string]any) *unstructured.Unstructured {
	instance := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	instance.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Instance"))
	instance.SetNamespace(p.namespace)
	instance.SetName(name)
	return instance
}

// settleAt gives the Instance a spec and its children once all of that has had its
// effect.
func (p *platform) settleAt(spec map[string]any, hint hint) (children string, err error) {
	children, err = p.comeTo(spec, nil, "")
	if err != nil || hint.late == "" {
		return children, err
	}
	p.restFor(1500 * time.Millisecond)
	return p.comeTo(spec, nil, "")
}

// comeTo gives the Instance of the spec's kind of storage the spec, waits until it
// shows some conditions, or else is ready, and gives its children: those wanted,
// where some are.
func (p *platform) comeTo(spec map[string]any, shown []string, wanted string) (children string, err error) {
	name := slices.Collect(maps.Keys(spec["storage"].(map[string]any)))[0]
	if err := p.giveSpec(name, spec); err != nil {
		return "", fmt.Errorf("%w: mend the hint", err)
	}
	if len(shown) == 0 {
		shown = []string{"Ready=True"}
	}
	var state []string
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	err = wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		if state = p.state(name); !includesAll(state, shown) {
			return false, nil
		}
		children = p.drawChildren(name)
		return wanted == "" || children == wanted, nil
	})
	switch {
	case err == nil:
		return children, nil
	case !includesAll(state, shown):
		return "", fmt.Errorf("shows %q, want %q: %s", state, shown, p.message(name, v1alpha1.ConditionReady))
	}
	return "", fmt.Errorf("children (-wanted +got):\n%s", cmp.Diff(wanted, children))
}

// includesAll says whether each of some beginnings is that of a line.
func includesAll(lines, beginnings []string) bool {
	return !slices.ContainsFunc(beginnings, func(beginning string) bool {
		return !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, beginning) })
	})
}

func (p *platform) giveSpec(name string, spec map[string]any) error {
	ctx := p.t.Context()
	if !p.get(name, &v1alpha1.Instance{}) {
		return p.Create(ctx, p.withSpec(name, spec))
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		instance := p.withSpec(name, nil)
		if err := p.Get(ctx, client.ObjectKeyFromObject(instance), instance); err != nil {
			return false, err
		}
		instance.Object["spec"] = spec
		err := p.Update(ctx, instance)
		return err == nil, ignoreConflict(err)
	})
}

func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}
