// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// conflictingItems returns the live list items that cannot coexist with the sent items:
// they have another key but the same value in a field that must be unique. Such an item
// results from a client changing the key of an item that the operator applied.
func (s typeSchema) conflictingItems(found []duplicateValue, sent, live map[string]any) *fieldpath.Set {
	clashes := fieldpath.NewSet()
	for _, of := range found {
		search := conflictFinder{typeSchema: s, field: of.field, conflicts: clashes}
		search.find(s.root, nil, of.listPath, sent, live)
	}
	return clashes
}

// A conflictFinder walks the sent and the live object down to the lists named by
// duplicate values.
type conflictFinder struct {
	typeSchema
	field     string
	conflicts *fieldpath.Set
}

func (s *conflictFinder) find(ref schema.TypeRef, at fieldpath.Path, way []string, sent, live any) {
	switch sent := sent.(type) {
	case map[string]any:
		fields, ok := live.(map[string]any)
		if !ok || len(way) == 0 {
			return
		}
		next := fieldType(s.mapSchema(ref), way[0])
		s.find(next, appendElement(at, fieldPathElement(way[0])), way[1:], sent[way[0]], fields[way[0]])
	case []any:
		items, ok := live.([]any)
		if list := s.listSchema(ref); ok && isAssociative(list) {
			s.findInList(list, at, way, sent, items)
		}
	}
}

func (s *conflictFinder) findInList(list *schema.List, at fieldpath.Path, way []string, sent, live []any) {
	for _, item := range live {
		to := appendElement(at, s.itemPathElement(list, item))
		same := s.matchingItems(list, item, sent)
		switch {
		case len(way) == 0 && len(same) == 0 && s.hasSameValue(item, sent):
			s.conflicts.Insert(to)
		case len(way) > 0 && len(same) == 1:
			s.find(list.ElementType, to, way, same[0], item)
		}
	}
}

// hasSameValue reports whether an item has the same value in the field as any of the
// others.
func (s *conflictFinder) hasSameValue(item any, others []any) bool {
	fields, ok := item.(map[string]any)
	if !ok || fields[s.field] == nil {
		return false
	}
	return slices.ContainsFunc(others, func(other any) bool {
		wanted, ok := other.(map[string]any)
		return ok && equalKeys(wanted[s.field], fields[s.field])
	})
}

func appendElement(path fieldpath.Path, element fieldpath.PathElement) fieldpath.Path {
	return append(slices.Clip(path), element)
}
