// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// TestDependenciesAreProvidedByEarlierPhases checks the order of the phases: an earlier
// phase provides each required dependency.
func TestDependenciesAreProvidedByEarlierPhases(t *testing.T) {
	t.Parallel()
	providers := map[dependency]string{}
	for _, p := range phases {
		for _, dep := range p.requires {
			if providers[dep] == "" {
				t.Errorf("phase %q requires %q, which no earlier phase provides", p.name, dep)
			}
		}
		for _, dep := range p.provides {
			if providers[dep] != "" {
				t.Errorf("phases %q and %q both provide %q", providers[dep], p.name, dep)
			}
			providers[dep] = p.name
		}
	}
}

// TestEveryKindIsOwnedByAPhase checks that every kind has an owning phase. Otherwise its
// objects would be pruned as soon as the phase that creates them fails.
func TestEveryKindIsOwnedByAPhase(t *testing.T) {
	t.Parallel()
	instance := &v1alpha1.Instance{}
	instance.Name = "acme"
	for _, kind := range inventory.Kinds {
		if kind.Name == inventory.KindPersistentVolumeClaim {
			continue // data is never pruned
		}
		name := map[bool]string{true: resources.TLSSecretName(instance), false: "acme"}[kind.Name == inventory.KindSecret]
		if !slices.ContainsFunc(phases, func(p phase) bool {
			return p.owns != nil && p.owns(instance, inventory.Key{Kind: kind.Name, Name: name})
		}) {
			t.Errorf("no phase owns kind %s", kind.Name)
		}
	}
}

// TestIncompletePhasesKeepTheirObjects checks that the objects of an incomplete phase
// are not pruned, while all others may be.
func TestIncompletePhasesKeepTheirObjects(t *testing.T) {
	t.Parallel()
	instance := &v1alpha1.Instance{}
	instance.Name = "acme"
	s := newScope(&dependencies{}, instance, inventory.New(inventory.Clients{}, instance), noon)
	secret := func(name string) inventory.Key { return inventory.Key{Kind: inventory.KindSecret, Name: name} }
	keys := map[string]inventory.Key{
		"apply the application keys":          secret("acme-app-portal"),
		"apply the signing keys":              secret(resources.SigningKeysSecretName(instance)),
		"apply the certificate":               secret(resources.TLSSecretName(instance)),
		"apply the Service and configuration": {Kind: "Service", Name: "acme"},
		"apply the NetworkPolicy":             {Kind: "NetworkPolicy", Name: "acme"},
		"run the preflight check":             {Kind: inventory.KindJob, Name: "acme-preflight-1"},
		"apply the Deployment":                {Kind: inventory.KindDeployment, Name: "acme"},
	}
	for name, key := range keys {
		s.incomplete = nil
		if s.mayBeDesired(key) {
			t.Errorf("%s may be desired although every phase completed", key)
		}
		for _, p := range phases {
			if p.name == name {
				s.incomplete = append(s.incomplete, p)
			}
		}
		for owner, key := range keys {
			if got := s.mayBeDesired(key); got != (owner == name) {
				t.Errorf("phase %q incomplete: mayBeDesired(%s) is %v", name, key, got)
			}
		}
	}
}
