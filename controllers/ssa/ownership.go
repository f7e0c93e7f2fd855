// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"bytes"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// otherManagers returns the names of the managers, except the given one, that own a field
// or any field below it.
func otherManagers(entries []metav1.ManagedFieldsEntry, path fieldpath.Path, version, manager string) []string {
	var names []string
	for _, entry := range entries {
		if entry.Manager == manager || entry.APIVersion != version || slices.Contains(names, entry.Manager) {
			continue
		}
		// An entry that cannot be decoded is skipped.
		if owned, err := decodeManagedFields(entry); err == nil && ownsAtOrBelow(owned, path) {
			names = append(names, entry.Manager)
		}
	}
	return names
}

func ownsAtOrBelow(owned *fieldpath.Set, path fieldpath.Path) bool {
	if owned.Has(path) {
		return true
	}
	for _, element := range path {
		owned = owned.WithPrefix(element)
	}
	return !owned.Empty()
}

// transferOwnership returns an object's managed fields with list items moved from all other
// managers to the fields that the given manager applied. The manager's next apply does not
// send these items and thereby removes them. version is the API version of the paths.
func transferOwnership(entries []metav1.ManagedFieldsEntry, items *fieldpath.Set, version, manager string) ([]metav1.ManagedFieldsEntry, error) {
	own := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: version, FieldsType: "FieldsV1"}
	owned := items
	var others []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if entry.APIVersion != version || entry.Subresource != "" {
			others = append(others, entry)
			continue
		}
		fields, err := decodeManagedFields(entry)
		if err != nil {
			return nil, err
		}
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply {
			own, owned = entry, owned.Union(fields)
			continue
		}
		left := fields.RecursiveDifference(items)
		owned = owned.Union(fields.Difference(left))
		if left.Empty() {
			continue
		}
		if entry, err = withManagedFields(entry, left); err != nil {
			return nil, err
		}
		others = append(others, entry)
	}
	own, err := withManagedFields(own, owned)
	return slices.Concat(others, []metav1.ManagedFieldsEntry{own}), err
}

func decodeManagedFields(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	fields := &fieldpath.Set{}
	if entry.FieldsV1 == nil {
		return fields, nil
	}
	if err := fields.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
		return nil, fmt.Errorf("decoding the fields of manager %s: %w", entry.Manager, err)
	}
	return fields, nil
}

func withManagedFields(entry metav1.ManagedFieldsEntry, fields *fieldpath.Set) (metav1.ManagedFieldsEntry, error) {
	var encoded bytes.Buffer
	if err := fields.ToJSONStream(&encoded); err != nil {
		return entry, fmt.Errorf("encoding the fields of manager %s: %w", entry.Manager, err)
	}
	entry.FieldsV1 = metav1.NewFieldsV1(encoded.String())
	return entry, nil
}
