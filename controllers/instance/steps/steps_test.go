// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// TestEveryNeedIsGivenBefore holds the order of the steps: what a step needs, an
// earlier one gives.
func TestEveryNeedIsGivenBefore(t *testing.T) {
	t.Parallel()
	given := map[fact]string{}
	for _, step := range steps {
		for _, need := range step.needs {
			if given[need] == "" {
				t.Errorf("%q needs %q, which no earlier step gives", step.name, need)
			}
		}
		for _, gift := range step.gives {
			if given[gift] != "" {
				t.Errorf("%q and %q both give %q", given[gift], step.name, gift)
			}
			given[gift] = step.name
		}
	}
}

// TestEveryKindIsMadeByAStep: one that no step owns up to would be deleted as soon
// as the step that makes it fails.
func TestEveryKindIsMadeByAStep(t *testing.T) {
	t.Parallel()
	instance := &v1alpha1.Instance{}
	instance.Name = "acme"
	for _, kind := range children.Kinds {
		if kind.Name == children.KindPersistentVolumeClaim {
			continue // data is never pruned
		}
		name := map[bool]string{true: resources.TLSName(instance), false: "acme"}[kind.Name == children.KindSecret]
		if !slices.ContainsFunc(steps, func(one step) bool {
			return one.makes != nil && one.makes(instance, children.Key{Kind: kind.Name, Name: name})
		}) {
			t.Errorf("no step makes any %s", kind.Name)
		}
	}
}

// TestUnfinishedStepsKeepTheirChildren: while a step has not come to its end, what
// it makes is not pruned, and everything else may be.
func TestUnfinishedStepsKeepTheirChildren(t *testing.T) {
	t.Parallel()
	instance := &v1alpha1.Instance{}
	instance.Name = "acme"
	v := NewVisit(&Means{}, instance, children.None(children.Access{}, instance), noon)
	secret := func(name string) children.Key { return children.Key{Kind: children.KindSecret, Name: name} }
	keys := map[string]children.Key{
		"give applications their keys": secret("acme-app-portal"),
		"give it keys to sign tokens":  secret(resources.SigningKeysName(instance)),
		"give it a certificate":        secret(resources.TLSName(instance)),
		"give it an address":           {Kind: "Service", Name: "acme"},
		"say who may talk to it":       {Kind: "NetworkPolicy", Name: "acme"},
		"check the models":             {Kind: children.KindJob, Name: "acme-preflight-1"},
		"run the server":               {Kind: children.KindDeployment, Name: "acme"},
	}
	for name, key := range keys {
		v.unfinished = nil
		if v.mayBeWanted(key) {
			t.Errorf("%s is kept although every step came to its end", key)
		}
		for _, step := range steps {
			if step.name == name {
				v.unfinished = append(v.unfinished, step)
			}
		}
		for other, key := range keys {
			if got := v.mayBeWanted(key); got != (other == name) {
				t.Errorf("while %q is unfinished: %s is kept: %v", name, key, got)
			}
		}
	}
}
