// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/controllers/instance"
)

func mustLeaseName(t interface{ Fatal(...any) }, selector string, namespaces ...string) string {
	parsed, err := labels.Parse(selector)
	if err != nil {
		t.Fatal(err)
	}
	name, err := leaseName(instance.Options{Selector: parsed, Namespaces: namespaces})
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestLeaseNamesAreStable prevents two leaders during a rollout of the operator: the old
// and the new version must compete for the same lease.
func TestLeaseNamesAreStable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		selector   string
		namespaces []string
		want       string
	}{
		{"", nil, "anamnesis-operator"},
		{"team=blue", nil, "anamnesis-operator-88f653e65d8c"},
		{"", []string{"clinic", "pharmacy"}, "anamnesis-operator-cdf8282ed93f"},
	} {
		if got := mustLeaseName(t, test.selector, test.namespaces...); got != test.want {
			t.Errorf("selector %q, namespaces %v: got lease %q, want %q", test.selector, test.namespaces, got, test.want)
		}
	}
}

// TestLeaseNameDependsOnSelectorAndNamespaces generates two operators and checks that
// they share a lease if and only if they manage the same Instances.
func TestLeaseNameDependsOnSelectorAndNamespaces(t *testing.T) {
	t.Parallel()
	selectors := rapid.SampledFrom([]string{"", "team=blue", "team=red"})
	lists := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "a-b"}), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		selector, otherSelector := selectors.Draw(t, "selector"), selectors.Draw(t, "other selector")
		list, otherList := lists.Draw(t, "namespaces"), lists.Draw(t, "other namespaces")
		name, b := mustLeaseName(t, selector, list...), mustLeaseName(t, otherSelector, otherList...)
		if same := selector == otherSelector && canonicalSet(list) == canonicalSet(otherList); same != (name == b) {
			t.Fatalf("selector %q in %v has lease %s, selector %q in %v has lease %s", selector, list, name, otherSelector, otherList, b)
		}
		if problems := validation.IsDNS1123Subdomain(name); problems != nil {
			t.Fatalf("invalid lease name %q: %v", name, problems)
		}
	})
}

func canonicalSet(list []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(list))), ",")
}
