// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// othersOwning gives the names of the other managers that own a field or
// anything below it.
func othersOwning(entries []metav1.ManagedFieldsEntry, path fieldpath.Path, version, manager string) []string {
	var names []string
	for _, entry := range entries {
		if entry.Manager == manager || entry.APIVersion != version || slices.Contains(names, entry.Manager) {
			continue
		}
		// An entry that cannot be read names nobody, and hides nothing else.
		if owned, err := decodeFields(entry); err == nil && ownsWithin(owned, path) {
			names = append(names, entry.Manager)
		}
	}
	return names
}

func ownsWithin(owned *fieldpath.Set, path fieldpath.Path) bool {
	if owned.Has(path) {
		return true
	}
	for _, element := range path {
		owned = owned.WithPrefix(element)
	}
	return !owned.Empty()
}

func decodeFields(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	fields := &fieldpath.Set{}
	if entry.FieldsV1 == nil {
		return fields, nil
	}
	if err := fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
		return nil, fmt.Errorf("decoding the fields of manager %s: %w", entry.Manager, err)
	}
	return fields, nil
}
