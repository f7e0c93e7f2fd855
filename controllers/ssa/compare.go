// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// A difference is a sent field that is missing from the live object or has another value
// there.
type difference struct {
	path fieldpath.Path
	// ownedPath is the outermost atomic part of the path, or the path itself if no part is
	// atomic.
	ownedPath fieldpath.Path
	// desired and live are the two values. live is nil if the field is missing.
	desired, live any
}

func (d difference) String() string { return strings.TrimPrefix(d.path.String(), ".") }

// compare returns the sent fields that differ in the live object, ordered by path. It
// ignores fields that only the live object has, except within atomic lists and maps.
func compare(sent *unstructured.Unstructured, live runtime.Object) ([]difference, error) {
	kind := sent.GroupVersionKind()
	fields, err := objectFields(kind, live)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of %s %s: %w", sent.GetKind(), sent.GetName(), err)
	}
	described, err := schemaFor(kind)
	if err != nil {
		return nil, err
	}
	c := comparison{typeSchema: described, atomicDepth: -1}
	c.compareObjects(sent.Object, fields)
	slices.SortFunc(c.differences, func(a, b difference) int { return cmp.Compare(a.String(), b.String()) })
	return c.differences, nil
}

// objectFields returns the fields of an object. Unstructured objects are converted to
// the typed form that the cache uses, so that the same object always has the same
// fields; fields unknown to the Go types are dropped.
func objectFields(kind runtimeschema.GroupVersionKind, object runtime.Object) (map[string]any, error) {
	decoded, isDecoded := object.(*unstructured.Unstructured)
	if !isDecoded {
		return runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	}
	if !scheme.Scheme.Recognizes(kind) {
		return decoded.Object, nil
	}
	typed, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(decoded.Object, typed); err != nil {
		return nil, err
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
}

// A comparison collects differences while it walks an object.
type comparison struct {
	typeSchema
	path []pathStep
	// atomicDepth is the length of the path to the outermost atomic value that contains the
	// current value. It is -1 outside of atomic values.
	atomicDepth int
	differences []difference
}

// A pathStep leads from a value to one of its fields or list items.
type pathStep struct {
	field string
	// list and item are set for items of associative lists, position for items of other
	// lists.
	list  *schema.List
	item  any
	index *int
}

// compareObjects skips fields that typed objects from a cache do not contain.
func (c *comparison) compareObjects(sent, live map[string]any) {
	fields := c.mapSchema(c.root)
	for name, value := range sent {
		if name != "apiVersion" && name != "kind" {
			c.descend(pathStep{field: name}, fieldType(fields, name), value, live[name])
		}
	}
}

func (c *comparison) descend(to pathStep, ref schema.TypeRef, sent, live any) {
	c.path = append(c.path, to)
	c.compareValues(ref, sent, live)
	c.path = c.path[:len(c.path)-1]
}

func (c *comparison) compareValues(ref schema.TypeRef, sent, live any) {
	switch sent := sent.(type) {
	case map[string]any:
		c.compareMaps(c.mapSchema(ref), sent, live)
	case []any:
		c.compareLists(c.listSchema(ref), sent, live)
	default:
		if !equalScalars(ref, sent, live) {
			c.addDifference(sent, live)
		}
	}
}

func (c *comparison) compareMaps(fields *schema.Map, sent map[string]any, live any) {
	found, ok := live.(map[string]any)
	dictionary := isDictionary(fields)
	if !ok && (live != nil || !dictionary) {
		c.addDifference(sent, live)
		return
	}
	outer := c.enterAtomic(fields.ElementRelationship)
	defer func() { c.atomicDepth = outer }()
	if dictionary && c.atomicDepth >= 0 && len(sent) != len(found) {
		c.addDifference(sent, live)
		return
	}
	for name, desired := range sent {
		value, present := found[name]
		if dictionary && !present {
			c.addDifferenceAt(pathStep{field: name}, desired, nil)
			continue
		}
		c.descend(pathStep{field: name}, fieldType(fields, name), desired, value)
	}
}

func (c *comparison) compareLists(list *schema.List, sent []any, live any) {
	found, ok := live.([]any)
	if !ok && (live != nil || len(sent) > 0) {
		c.addDifference(sent, live)
		return
	}
	if isAssociative(list) && c.atomicDepth < 0 {
		c.compareItems(list, sent, found)
		return
	}
	outer := c.enterAtomic(schema.Atomic)
	defer func() { c.atomicDepth = outer }()
	if len(sent) != len(found) {
		c.addDifference(sent, live)
		return
	}
	for i := range sent {
		c.descend(pathStep{index: &i}, list.ElementType, sent[i], found[i])
	}
}

// compareItems compares each sent item with the live item that has the same key, at any
// position. A key that occurs several times in the live list is a difference: another
// client duplicated it, and consumers use the last one.
func (c *comparison) compareItems(list *schema.List, sent, live []any) {
	for _, item := range sent {
		to := pathStep{list: list, item: item}
		switch same := c.matchingItems(list, item, live); len(same) {
		case 0:
			c.addDifferenceAt(to, item, nil)
		case 1:
			c.descend(to, list.ElementType, item, same[0])
		default:
			c.addDifferenceAt(to, item, same)
		}
	}
}

// enterAtomic marks the values below as atomic if the relationship requires it, and
// returns the previous depth so that the caller can restore it.
func (c *comparison) enterAtomic(relationship schema.ElementRelationship) (outer int) {
	outer = c.atomicDepth
	if outer < 0 && relationship == schema.Atomic {
		c.atomicDepth = len(c.path)
	}
	return outer
}

func (c *comparison) addDifferenceAt(to pathStep, sent, live any) {
	c.path = append(c.path, to)
	c.addDifference(sent, live)
	c.path = c.path[:len(c.path)-1]
}

func (c *comparison) addDifference(sent, live any) {
	path := make(fieldpath.Path, len(c.path))
	for i, to := range c.path {
		path[i] = c.pathElement(to)
	}
	owned := path
	if c.atomicDepth >= 0 {
		owned = path[:c.atomicDepth]
	}
	c.differences = append(c.differences, difference{path: path, ownedPath: owned, desired: sent, live: live})
}

func (c *comparison) pathElement(to pathStep) fieldpath.PathElement {
	switch {
	case to.list != nil:
		return c.itemPathElement(to.list, to.item)
	case to.index != nil:
		return fieldpath.PathElement{Index: ptr.To(*to.index)}
	}
	return fieldPathElement(to.field)
}

// equalScalars compares two values that are neither maps nor lists. A zero value that is
// sent equals a missing field, because the API omits zero values.
func equalScalars(ref schema.TypeRef, sent, live any) bool {
	if sent == live {
		return true
	}
	if live == nil {
		return sent == false || sent == "" || sent == int64(0) || sent == float64(0)
	}
	return isNamedType(ref, quantityType) && equalQuantities(sent, live)
}

func equalQuantities(sent, live any) bool {
	sentQuantity, sentIsQuantity := parseQuantity(sent)
	liveQuantity, liveIsQuantity := parseQuantity(live)
	return sentIsQuantity && liveIsQuantity && sentQuantity.Cmp(liveQuantity) == 0
}

func parseQuantity(value any) (resource.Quantity, bool) {
	switch value := value.(type) {
	case int64:
		return *resource.NewQuantity(value, resource.DecimalSI), true
	case string:
		parsed, err := resource.ParseQuantity(value)
		return parsed, err == nil
	}
	return resource.Quantity{}, false
}
