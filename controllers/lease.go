// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/anamnesis-dev/anamnesis/controllers/apply"
	"github.com/anamnesis-dev/anamnesis/controllers/instance"
)

// leaseName keeps operators that care for different Instances from taking turns:
// those with the same selector and the same namespaces, in whatever order, have
// one lease, and others have others.
func leaseName(options instance.Options) (string, error) {
	const name = "anamnesis-operator"
	selector := options.Selector.String()
	namespaces := slices.Compact(slices.Sorted(slices.Values(options.Namespaces)))
	var cared any = selector
	switch {
	case len(namespaces) > 0:
		cared = map[string]any{"selector": selector, "namespaces": namespaces}
	case options.Selector.Empty():
		return name, nil
	}
	hash, err := apply.Hash(cared)
	return name + "-" + hash, err
}
