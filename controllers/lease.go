// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/controllers/instance"
	"github.com/anamnesis-dev/anamnesis/controllers/ssa"
)

// leaseName returns the name of the leader election lease. Operators with the same
// selector and the same namespaces, in any order, share a lease; operators that manage
// different Instances do not compete for one.
func leaseName(options instance.Options) (string, error) {
	const name = "anamnesis-operator"
	selector := options.Selector.String()
	namespaces := slices.Compact(slices.Sorted(slices.Values(options.Namespaces)))
	var managed any = selector
	switch {
	case len(namespaces) > 0:
		managed = map[string]any{"selector": selector, "namespaces": namespaces}
	case options.Selector.Empty():
		return name, nil
	}
	hash, err := ssa.Hash(managed)
	return name + "-" + hash, err
}
