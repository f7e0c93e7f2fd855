// SPDX-License-Identifier: Apache-2.0

package apply

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

// A difference is a field that was sent and that the live object has not, or has
// otherwise.
type difference struct {
	path fieldpath.Path
	// owned is the outermost part of the path that has one owner as a whole, or
	// the path itself.
	owned fieldpath.Path
	// sent and live are the two values; live is nil where there is none.
	sent, live any
}

func (d difference) String() string { return strings.TrimPrefix(d.path.String(), ".") }

// compare gives each field that is sent and not so in the live object, in the
// order of the paths. Fields that only the live object has do not count, but in
// what has one owner as a whole: items of such a list and keys of such a map.
func compare(sent *unstructured.Unstructured, live runtime.Object) ([]difference, error) {
	kind := sent.GroupVersionKind()
	fields, err := fieldsOf(kind, live)
	if err != nil {
		return nil, fmt.Errorf("reading the fields of %s %s: %w", sent.GetKind(), sent.GetName(), err)
	}
	described, err := structureOf(kind)
	if err != nil {
		return nil, err
	}
	c := comparison{structure: described, whole: -1}
	c.compareObjects(sent.Object, fields)
	slices.SortFunc(c.found, func(one, other difference) int { return cmp.Compare(one.String(), other.String()) })
	return c.found, nil
}

// fieldsOf gives the fields of an object. One that came as JSON takes the way of
// those from a cache, so that the same object always has the same fields: not
// those that the types here do not know.
func fieldsOf(kind runtimeschema.GroupVersionKind, object runtime.Object) (map[string]any, error) {
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

// A comparison collects differences on its way through an object.
type comparison struct {
	structure
	path []step
	// whole is the length of the path to the outermost value around here that
	// has one owner as a whole; -1 for none.
	whole int
	found []difference
}

// A step leads from a value to one within: to a field, or to an item of a list.
type step struct {
	field string
	// list and item are set for an item of a shared list, position for one of
	// another list.
	list     *schema.List
	item     any
	position *int
}

// compareObjects leaves out what a typed object from a cache does not carry.
func (c *comparison) compareObjects(sent, live map[string]any) {
	fields := c.mapOf(c.root)
	for name, value := range sent {
		if name != "apiVersion" && name != "kind" {
			c.within(step{field: name}, fieldType(fields, name), value, live[name])
		}
	}
}

func (c *comparison) within(to step, ref schema.TypeRef, sent, live any) {
	c.path = append(c.path, to)
	c.compareValues(ref, sent, live)
	c.path = c.path[:len(c.path)-1]
}

func (c *comparison) compareValues(ref schema.TypeRef, sent, live any) {
	switch sent := sent.(type) {
	case map[string]any:
		c.compareMaps(c.mapOf(ref), sent, live)
	case []any:
		c.compareLists(c.listOf(ref), sent, live)
	default:
		if !equalScalars(ref, sent, live) {
			c.differ(sent, live)
		}
	}
}

func (c *comparison) compareMaps(fields *schema.Map, sent map[string]any, live any) {
	found, ok := live.(map[string]any)
	dictionary := isDictionary(fields)
	if !ok && (live != nil || !dictionary) {
		c.differ(sent, live)
		return
	}
	outer := c.enter(fields.ElementRelationship)
	defer func() { c.whole = outer }()
	if dictionary && c.whole >= 0 && len(sent) != len(found) {
		c.differ(sent, live)
		return
	}
	for name, wanted := range sent {
		value, present := found[name]
		if dictionary && !present {
			c.differAt(step{field: name}, wanted, nil)
			continue
		}
		c.within(step{field: name}, fieldType(fields, name), wanted, value)
	}
}

func (c *comparison) compareLists(list *schema.List, sent []any, live any) {
	found, ok := live.([]any)
	if !ok && (live != nil || len(sent) > 0) {
		c.differ(sent, live)
		return
	}
	if isShared(list) && c.whole < 0 {
		c.compareItems(list, sent, found)
		return
	}
	outer := c.enter(schema.Atomic)
	defer func() { c.whole = outer }()
	if len(sent) != len(found) {
		c.differ(sent, live)
		return
	}
	for i := range sent {
		c.within(step{position: &i}, list.ElementType, sent[i], found[i])
	}
}

// compareItems compares each item that is sent with the live one that has the
// same key, wherever it stands. Where there are several of the key, somebody
// repeated it, and programs go by the last: that is a difference.
func (c *comparison) compareItems(list *schema.List, sent, live []any) {
	for _, item := range sent {
		to := step{list: list, item: item}
		switch same := c.itemsLike(list, item, live); len(same) {
		case 0:
			c.differAt(to, item, nil)
		case 1:
			c.within(to, list.ElementType, item, same[0])
		default:
			c.differAt(to, item, same)
		}
	}
}

// enter notes that what follows has one owner, if the relationship says so, and
// gives what was noted before.
func (c *comparison) enter(relationship schema.ElementRelationship) (outer int) {
	outer = c.whole
	if outer < 0 && relationship == schema.Atomic {
		c.whole = len(c.path)
	}
	return outer
}

func (c *comparison) differAt(to step, sent, live any) {
	c.path = append(c.path, to)
	c.differ(sent, live)
	c.path = c.path[:len(c.path)-1]
}

func (c *comparison) differ(sent, live any) {
	path := make(fieldpath.Path, len(c.path))
	for i, to := range c.path {
		path[i] = c.element(to)
	}
	owned := path
	if c.whole >= 0 {
		owned = path[:c.whole]
	}
	c.found = append(c.found, difference{path: path, owned: owned, sent: sent, live: live})
}

func (c *comparison) element(to step) fieldpath.PathElement {
	switch {
	case to.list != nil:
		return c.itemElement(to.list, to.item)
	case to.position != nil:
		return fieldpath.PathElement{Index: ptr.To(*to.position)}
	}
	return fieldElement(to.field)
}

// equalScalars compares two values that are neither maps nor lists. A zero that
// is sent equals a field left out, because the API leaves zeros out.
func equalScalars(ref schema.TypeRef, sent, live any) bool {
	if sent == live {
		return true
	}
	if live == nil {
		return sent == false || sent == "" || sent == int64(0) || sent == float64(0)
	}
	return isNamed(ref, quantityType) && equalQuantities(sent, live)
}

func equalQuantities(sent, live any) bool {
	one, sentIsQuantity := quantity(sent)
	other, liveIsQuantity := quantity(live)
	return sentIsQuantity && liveIsQuantity && one.Cmp(other) == 0
}

func quantity(value any) (resource.Quantity, bool) {
	switch value := value.(type) {
	case int64:
		return *resource.NewQuantity(value, resource.DecimalSI), true
	case string:
		parsed, err := resource.ParseQuantity(value)
		return parsed, err == nil
	}
	return resource.Quantity{}, false
}
