// SPDX-License-Identifier: Apache-2.0

package children

import (
	"cmp"
	"maps"
	"slices"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Inventory names the children that there are, and those that were just made,
// less those that were deleted.
func (s *Set) Inventory() []v1alpha1.InventoryEntry {
	keys := map[Key]bool{}
	for key := range s.found {
		keys[key] = true
	}
	maps.Copy(keys, s.wanted)
	var entries []v1alpha1.InventoryEntry
	for _, key := range sorted(maps.Keys(keys)) {
		if !s.deleted[key] {
			entries = append(entries, v1alpha1.InventoryEntry{Kind: key.Kind, Name: key.Name})
		}
	}
	return entries
}

// Unwanted names the children that no step asked for, in a fixed order. Data is
// never among them: that goes only with the Instance.
func (s *Set) Unwanted() []Key {
	var keys []Key
	for _, key := range sorted(maps.Keys(s.found)) {
		if !s.wanted[key] && !IsData(s.instance, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// OfKind names the children of a kind that were found, in a fixed order.
func (s *Set) OfKind(kind string) []Key {
	all := sorted(maps.Keys(s.found))
	return slices.DeleteFunc(all, func(key Key) bool { return key.Kind != kind })
}

func sorted(keys func(func(Key) bool)) []Key {
	return slices.SortedFunc(keys, func(one, other Key) int {
		return cmp.Or(cmp.Compare(one.Kind, other.Kind), cmp.Compare(one.Name, other.Name))
	})
}
