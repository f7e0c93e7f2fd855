// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
)

// testedKinds are the kinds that the operator writes, and one whose schema is not built
// in.
var testedKinds = []runtimeschema.GroupVersionKind{
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Version: "v1", Kind: "PersistentVolumeClaim"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"},
}

// TestCompareIgnoresAdditions generates objects from the schemas. Additions by
// other clients are not differences; every change of a sent field is a difference.
func TestCompareIgnoresAdditions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		described, err := schemaFor(rapid.SampledFrom(testedKinds).Draw(t, "kind"))
		if err != nil {
			t.Fatal(err)
		}
		artist := schemaGenerator{described, t}
		sent := artist.fields(described.root, 8)
		delete(sent, "apiVersion")
		delete(sent, "kind")
		live := artist.withAdditions(described.root, sent, false).(map[string]any)
		if found := compareFields(described, sent, live); len(found) > 0 {
			t.Fatalf("sent %v\nlive %v\ngot differences %v, want none", sent, live, found)
		}
		changed, ok := artist.mutate(described.root, sent, live)
		if ok && len(compareFields(described, sent, changed.(map[string]any))) == 0 {
			t.Fatalf("sent %v\nlive %v\nchange was not detected", sent, changed)
		}
	})
}

func compareFields(described typeSchema, sent, live map[string]any) []difference {
	c := comparison{typeSchema: described, atomicDepth: -1}
	c.compareObjects(sent, live)
	return c.differences
}

// A schemaGenerator generates values of the types in a schema.
type schemaGenerator struct {
	typeSchema
	t *rapid.T
}

// word generates a string that is not empty.
func (g schemaGenerator) word() string { return rapid.StringMatching(`[a-f]{1,3}`).Draw(g.t, "word") }

func (g schemaGenerator) boolean(label string) bool { return rapid.Bool().Draw(g.t, label) }

func (g schemaGenerator) value(ref schema.TypeRef, depth int) any {
	atom, _ := g.schema.Resolve(ref)
	switch {
	case isNamedType(ref, quantityType):
		return strconv.Itoa(rapid.IntRange(1, 9).Draw(g.t, "quantity"))
	case atom.Scalar != nil && (atom.Map == nil || g.boolean("scalar")):
		return g.scalar(*atom.Scalar)
	case atom.Map != nil:
		return g.fields(ref, depth-1)
	}
	return g.items(atom.List, depth-1)
}

func (g schemaGenerator) scalar(kind schema.Scalar) any {
	switch kind {
	case schema.Numeric:
		return rapid.Int64Range(0, 5).Draw(g.t, "number")
	case schema.Boolean:
		return g.boolean("boolean")
	}
	return g.word()
}

// fields generates a map. Deeper maps have fewer fields.
func (g schemaGenerator) fields(ref schema.TypeRef, depth int) map[string]any {
	fields := g.mapSchema(ref)
	drawn := map[string]any{}
	for range rapid.IntRange(0, max(0, min(4, depth))).Draw(g.t, "fields") {
		name := g.fieldName(fields)
		drawn[name] = g.value(fieldType(fields, name), depth)
	}
	return drawn
}

func (g schemaGenerator) fieldName(fields *schema.Map) string {
	if len(fields.Fields) == 0 {
		return g.word()
	}
	return rapid.SampledFrom(fields.Fields).Draw(g.t, "field").Name
}

func (g schemaGenerator) items(list *schema.List, depth int) []any {
	drawn := []any{}
	for range rapid.IntRange(0, max(0, min(3, depth))).Draw(g.t, "items") {
		if item := g.item(list, depth); !isAssociative(list) || len(g.matchingItems(list, item, drawn)) == 0 {
			drawn = append(drawn, item)
		}
	}
	return drawn
}

// item generates a list item with its key fields, except keys that have a default.
func (g schemaGenerator) item(list *schema.List, depth int) any {
	item := g.value(list.ElementType, depth)
	fields, ok := item.(map[string]any)
	if !ok || len(list.Keys) == 0 {
		return item
	}
	for _, name := range list.Keys {
		field, _ := g.mapSchema(list.ElementType).FindField(name)
		if _, has := fields[name]; !has && (field.Default == nil || g.boolean("key")) {
			fields[name] = g.value(field.Type, 0)
		}
	}
	return fields
}

// withAdditions returns a sent value as it may look when live: with defaults, with
// fields and items of other owners, without zero values, with quantities in another
// notation. Atomic values only get defaults.
func (g schemaGenerator) withAdditions(ref schema.TypeRef, sent any, whole bool) any {
	switch sent := sent.(type) {
	case map[string]any:
		fields := g.mapSchema(ref)
		return g.withAddedFields(fields, sent, whole || fields.ElementRelationship == schema.Atomic)
	case []any:
		list := g.listSchema(ref)
		return g.withAddedItems(list, sent, whole || !isAssociative(list))
	case string:
		if isNamedType(ref, quantityType) && g.boolean("rewrite") {
			return sent + "000m"
		}
	}
	return sent
}

func (g schemaGenerator) withAddedFields(fields *schema.Map, sent map[string]any, whole bool) map[string]any {
	live := map[string]any{}
	for name, value := range sent {
		zero := value == false || value == int64(0)
		if zero && !isDictionary(fields) && g.boolean("omit") {
			continue
		}
		live[name] = g.withAdditions(fieldType(fields, name), value, whole)
	}
	if name := g.fieldName(fields); g.boolean("add") && (!whole || !isDictionary(fields)) {
		if _, has := sent[name]; !has {
			live[name] = g.value(fieldType(fields, name), 1)
		}
	}
	return live
}

func (g schemaGenerator) withAddedItems(list *schema.List, sent []any, whole bool) []any {
	live := []any{}
	for _, item := range sent {
		more := g.withAdditions(list.ElementType, item, whole)
		if fields, ok := more.(map[string]any); ok && isAssociative(list) {
			// The API server sets default keys and preserves keys.
			for _, name := range list.Keys {
				fields[name] = g.keyValue(list, name, item.(map[string]any))
			}
		}
		live = append(live, more)
	}
	if !whole && g.boolean("add an item") {
		if item := g.item(list, 1); len(g.matchingItems(list, item, sent)) == 0 {
			live = slices.Insert(live, rapid.IntRange(0, len(live)).Draw(g.t, "at"), item)
		}
	}
	return live
}

// mutate changes one sent field in the live value. It returns false if no sent field can
// be changed.
func (g schemaGenerator) mutate(ref schema.TypeRef, sent, live any) (any, bool) {
	switch sent := sent.(type) {
	case map[string]any:
		return g.mutateFields(g.mapSchema(ref), sent, live.(map[string]any))
	case []any:
		return g.mutateItems(g.listSchema(ref), sent, live.([]any))
	}
	return fmt.Sprintf("changed %v", sent), true
}

func (g schemaGenerator) mutateFields(fields *schema.Map, sent, live map[string]any) (any, bool) {
	changed := maps.Clone(live)
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if _, has := live[name]; !has {
			continue
		}
		if value, ok := g.mutate(fieldType(fields, name), sent[name], live[name]); ok && g.boolean("change "+name) {
			changed[name] = value
			return changed, true
		}
	}
	return nil, false
}

func (g schemaGenerator) mutateItems(list *schema.List, sent, live []any) (any, bool) {
	if len(sent) == 0 {
		return nil, false
	}
	at := rapid.IntRange(0, len(sent)-1).Draw(g.t, "item")
	if isAssociative(list) {
		gone := slices.DeleteFunc(slices.Clone(live), func(item any) bool { return g.isSameItem(list, sent[at], item) })
		return gone, true
	}
	return slices.Delete(slices.Clone(live), at, at+1), true
}
