// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Entries returns the owned objects that exist, including objects just created and
// excluding objects just deleted.
func (s *Set) Entries() []v1alpha1.InventoryEntry {
	keys := map[Key]bool{}
	for key := range s.found {
		keys[key] = true
	}
	maps.Copy(keys, s.desired)
	var entries []v1alpha1.InventoryEntry
	for _, key := range sortedKeys(maps.Keys(keys)) {
		if !s.deleted[key] {
			entries = append(entries, v1alpha1.InventoryEntry{Kind: key.Kind, Name: key.Name})
		}
	}
	return entries
}

// Prunable returns the owned objects that are not desired, in a stable order. It never
// includes data, which is deleted only with the Instance.
func (s *Set) Prunable() []Key {
	var keys []Key
	for _, key := range sortedKeys(maps.Keys(s.found)) {
		if !s.desired[key] && !IsData(s.instance, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// KeysOfKind returns the keys of the existing owned objects of a kind, in a stable
// order.
func (s *Set) KeysOfKind(kind string) []Key {
	keys := sortedKeys(maps.Keys(s.found))
	return slices.DeleteFunc(keys, func(key Key) bool { return key.Kind != kind })
}

func sortedKeys(keys func(func(Key) bool)) []Key {
	return slices.SortedFunc(keys, func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
}
