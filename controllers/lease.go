// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/anamnesis-dev/anamnesis/controllers/apply"
	"github.com/anamnesis-dev/anamnesis/controllers/instance"
)

// leaseName keeps operators that care for different Instances from taking turns.
func leaseName(options instance.Options) (string, error) {
	const name = "anamnesis-operator"
	if options.Selector.Empty() {
		return name, nil
	}
	hash, err := apply.Hash(options.Selector.String())
	return name + "-" + hash, err
}
