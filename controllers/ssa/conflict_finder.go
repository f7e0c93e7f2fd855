// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// conflictingItems returns the live list items that conflict with the sent items: they
// have another key but the same value in a field that must be unique. Such a conflict
// occurs when another client changes the key of an item that the operator applied.
func (s typeSchema) conflictingItems(found []duplicateValue, sent, live map[string]any) *fieldpath.Set {
	conflicts := fieldpath.NewSet()
	for _, duplicate := range found {
		finder := conflictFinder{typeSchema: s, field: duplicate.field, conflicts: conflicts}
		finder.find(s.root, nil, duplicate.listPath, sent, live)
	}
	return conflicts
}

// A conflictFinder walks the sent and the live object down to the lists named by
// duplicate values.
type conflictFinder struct {
	typeSchema
	field     string
	conflicts *fieldpath.Set
}

func (f *conflictFinder) find(ref schema.TypeRef, at fieldpath.Path, listPath []string, sent, live any) {
	switch sent := sent.(type) {
	case map[string]any:
		fields, ok := live.(map[string]any)
		if !ok || len(listPath) == 0 {
			return
		}
		next := fieldType(f.mapSchema(ref), listPath[0])
		f.find(next, appendElement(at, fieldPathElement(listPath[0])), listPath[1:], sent[listPath[0]], fields[listPath[0]])
	case []any:
		items, ok := live.([]any)
		if list := f.listSchema(ref); ok && isAssociative(list) {
			f.findInList(list, at, listPath, sent, items)
		}
	}
}

func (f *conflictFinder) findInList(list *schema.List, at fieldpath.Path, listPath []string, sent, live []any) {
	for _, item := range live {
		to := appendElement(at, f.itemPathElement(list, item))
		same := f.matchingItems(list, item, sent)
		switch {
		case len(listPath) == 0 && len(same) == 0 && f.hasSameValue(item, sent):
			f.conflicts.Insert(to)
		case len(listPath) > 0 && len(same) == 1:
			f.find(list.ElementType, to, listPath, same[0], item)
		}
	}
}

// hasSameValue reports whether any of the candidates has the same value in the field as
// the item.
func (f *conflictFinder) hasSameValue(item any, candidates []any) bool {
	fields, ok := item.(map[string]any)
	if !ok || fields[f.field] == nil {
		return false
	}
	return slices.ContainsFunc(candidates, func(candidate any) bool {
		candidateFields, ok := candidate.(map[string]any)
		return ok && equalKeys(candidateFields[f.field], fields[f.field])
	})
}

func appendElement(path fieldpath.Path, element fieldpath.PathElement) fieldpath.Path {
	return append(slices.Clip(path), element)
}
