// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"slices"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// clashing gives the items of live lists that cannot stay beside the items that
// are sent: those of another key that hold the same in a field of a duplicate.
// Such an item is what somebody made of one of ours by changing its key.
func (s structure) clashing(found []duplicate, sent, live map[string]any) *fieldpath.Set {
	clashes := fieldpath.NewSet()
	for _, of := range found {
		search := clashSearch{structure: s, field: of.field, clashes: clashes}
		search.find(s.root, nil, of.list, sent, live)
	}
	return clashes
}

// A clashSearch goes through what is sent and what is live to the lists that a
// duplicate names.
type clashSearch struct {
	structure
	field   string
	clashes *fieldpath.Set
}

func (s *clashSearch) find(ref schema.TypeRef, at fieldpath.Path, way []string, sent, live any) {
	switch sent := sent.(type) {
	case map[string]any:
		fields, ok := live.(map[string]any)
		if !ok || len(way) == 0 {
			return
		}
		next := fieldType(s.mapOf(ref), way[0])
		s.find(next, extend(at, fieldElement(way[0])), way[1:], sent[way[0]], fields[way[0]])
	case []any:
		items, ok := live.([]any)
		if list := s.listOf(ref); ok && isShared(list) {
			s.findInList(list, at, way, sent, items)
		}
	}
}

func (s *clashSearch) findInList(list *schema.List, at fieldpath.Path, way []string, sent, live []any) {
	for _, item := range live {
		to := extend(at, s.itemElement(list, item))
		same := s.itemsLike(list, item, sent)
		switch {
		case len(way) == 0 && len(same) == 0 && s.holdsValueOf(item, sent):
			s.clashes.Insert(to)
		case len(way) > 0 && len(same) == 1:
			s.find(list.ElementType, to, way, same[0], item)
		}
	}
}

// holdsValueOf says whether an item has the same in the field as one of others.
func (s *clashSearch) holdsValueOf(item any, others []any) bool {
	fields, ok := item.(map[string]any)
	if !ok || fields[s.field] == nil {
		return false
	}
	return slices.ContainsFunc(others, func(other any) bool {
		wanted, ok := other.(map[string]any)
		return ok && equalKeys(wanted[s.field], fields[s.field])
	})
}

func extend(path fieldpath.Path, element fieldpath.PathElement) fieldpath.Path {
	return append(slices.Clip(path), element)
}
