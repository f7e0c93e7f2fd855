// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Names of types in the schema.
const (
	quantityType = "io.k8s.apimachinery.pkg.api.resource.Quantity"
	metadataType = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
	// deducedType is that of values which no schema describes: it follows from
	// the values. atomicType is the same within what has one owner.
	deducedType = "__untyped_deduced_"
	atomicType  = "__untyped_atomic_"
)

// A structure says how objects of one kind are made up: which of their lists and
// maps several owners share, and what tells the items of a shared list apart. It
// is what the API server goes by when it applies.
type structure struct {
	schema *schema.Schema
	root   schema.TypeRef
}

// builtin is the schema of the kinds that Kubernetes brings. client-go carries
// it, so that no server is asked; to read it takes 0.1 s and keeps 5 MB.
var builtin = sync.OnceValue(func() managedfields.TypeConverter {
	return applyconfigurations.NewTypeConverter(scheme.Scheme)
})

// structures are those that were asked for, by GroupVersionKind.
var structures sync.Map

// structureOf gives the structure of a kind. Of a kind that Kubernetes does not
// bring, only the metadata is known: each list below has one owner then, each
// field of a map one of its own.
func structureOf(kind runtimeschema.GroupVersionKind) (structure, error) {
	if known, ok := structures.Load(kind); ok {
		return known.(structure), nil
	}
	found, err := readStructure(kind)
	if err == nil {
		structures.Store(kind, found)
	}
	return found, err
}

func readStructure(kind runtimeschema.GroupVersionKind) (structure, error) {
	known := scheme.Scheme.Recognizes(kind)
	if !known {
		kind = runtimeschema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	}
	empty := &unstructured.Unstructured{}
	empty.SetGroupVersionKind(kind)
	object, err := builtin().ObjectToTyped(empty)
	if err != nil {
		return structure{}, fmt.Errorf("reading the schema of %s: %w", kind, err)
	}
	if !known {
		return structure{object.Schema(), foreignType()}, nil
	}
	return structure{object.Schema(), object.TypeRef()}, nil
}

// foreignType is the type of objects whose kind Kubernetes does not bring.
func foreignType() schema.TypeRef {
	metadata := schema.StructField{Name: "metadata", Type: schema.TypeRef{NamedType: ptr.To(metadataType)}}
	return schema.TypeRef{Inlined: schema.Atom{Map: &schema.Map{
		Fields:      []schema.StructField{metadata},
		ElementType: deduced(),
	}}}
}

func deduced() schema.TypeRef { return schema.TypeRef{NamedType: ptr.To(deducedType)} }

func isNamed(ref schema.TypeRef, name string) bool {
	return ref.NamedType != nil && *ref.NamedType == name
}

// mapOf gives what a type says of its values that are maps.
func (s structure) mapOf(ref schema.TypeRef) *schema.Map {
	if atom, ok := s.schema.Resolve(ref); ok && atom.Map != nil {
		return atom.Map
	}
	return &schema.Map{ElementType: deduced()}
}

// listOf gives what a type says of its values that are lists.
func (s structure) listOf(ref schema.TypeRef) *schema.List {
	if atom, ok := s.schema.Resolve(ref); ok && atom.List != nil {
		return atom.List
	}
	return &schema.List{ElementType: deduced(), ElementRelationship: schema.Atomic}
}

// fieldType gives the type of a field; one that the schema does not know, of a
// newer API, is deduced.
func fieldType(fields *schema.Map, name string) schema.TypeRef {
	if field, ok := fields.FindField(name); ok {
		return field.Type
	}
	if fields.ElementType != (schema.TypeRef{}) {
		return fields.ElementType
	}
	return deduced()
}

// isDictionary says whether a map has keys that its author chose, such as
// labels, as opposed to fields that the API names: of those the API leaves out
// zeros and adds defaults.
func isDictionary(fields *schema.Map) bool {
	element := fields.ElementType
	return len(fields.Fields) == 0 && element != (schema.TypeRef{}) && !isNamed(element, deducedType) && !isNamed(element, atomicType)
}

// isShared says whether several owners may each have items of a list.
func isShared(list *schema.List) bool { return list.ElementRelationship == schema.Associative }

// keyOf gives one field of what tells the items of a list apart, or its default.
func (s structure) keyOf(list *schema.List, name string, item map[string]any) any {
	if found, ok := item[name]; ok {
		return found
	}
	field, _ := s.mapOf(list.ElementType).FindField(name)
	return field.Default
}

// sameItem says whether two items of a shared list are one for the API server.
func (s structure) sameItem(list *schema.List, one, other any) bool {
	first, isMap := one.(map[string]any)
	second, isOtherMap := other.(map[string]any)
	if !isMap || !isOtherMap || len(list.Keys) == 0 {
		return !isMap && !isOtherMap && equalKeys(one, other)
	}
	return !slices.ContainsFunc(list.Keys, func(name string) bool {
		return !equalKeys(s.keyOf(list, name, first), s.keyOf(list, name, second))
	})
}

func equalKeys(one, other any) bool {
	return value.Equals(value.NewValueInterface(one), value.NewValueInterface(other))
}

// itemsLike gives the items of a shared list that are the same as a given one.
// There may be several, where somebody repeated a key without applying it.
func (s structure) itemsLike(list *schema.List, given any, items []any) []any {
	var same []any
	for _, item := range items {
		if s.sameItem(list, given, item) {
			same = append(same, item)
		}
	}
	return same
}

// itemElement names an item of a shared list in a path.
func (s structure) itemElement(list *schema.List, item any) fieldpath.PathElement {
	fields, ok := item.(map[string]any)
	if !ok {
		scalar := value.NewValueInterface(item)
		return fieldpath.PathElement{Value: &scalar}
	}
	var key value.FieldList
	for _, name := range list.Keys {
		if part := s.keyOf(list, name, fields); part != nil {
			key = append(key, value.Field{Name: name, Value: value.NewValueInterface(part)})
		}
	}
	key.Sort()
	return fieldpath.PathElement{Key: &key}
}

func fieldElement(name string) fieldpath.PathElement { return fieldpath.PathElement{FieldName: &name} }
