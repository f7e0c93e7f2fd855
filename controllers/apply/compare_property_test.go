// SPDX-License-Identifier: Apache-2.0

package apply

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

// written are the kinds of objects that the operator writes, and one whose
// schema only its server knows.
var written = []runtimeschema.GroupVersionKind{
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

// TestCompareWithAdditions draws objects from the schemas themselves: whatever
// others may add to what was sent is no difference, and a change of what was
// sent always is.
func TestCompareWithAdditions(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		described, err := structureOf(rapid.SampledFrom(written).Draw(t, "kind"))
		if err != nil {
			t.Fatal(err)
		}
		artist := artist{described, t}
		sent := artist.fields(described.root, 8)
		delete(sent, "apiVersion")
		delete(sent, "kind")
		live := artist.more(described.root, sent, false).(map[string]any)
		if found := differences(described, sent, live); len(found) > 0 {
			t.Fatalf("sent %v\nlive %v\ndiffers in %v", sent, live, found)
		}
		changed, ok := artist.change(described.root, sent, live)
		if ok && len(differences(described, sent, changed.(map[string]any))) == 0 {
			t.Fatalf("sent %v\nlive %v\nthe change was not seen", sent, changed)
		}
	})
}

func differences(described structure, sent, live map[string]any) []difference {
	c := comparison{structure: described, whole: -1}
	c.compareObjects(sent, live)
	return c.found
}

// An artist draws values of the types of a schema.
type artist struct {
	structure
	t *rapid.T
}

// word draws a string that is no zero.
func (a artist) word() string { return rapid.StringMatching(`[a-f]{1,3}`).Draw(a.t, "word") }

func (a artist) toss(label string) bool { return rapid.Bool().Draw(a.t, label) }

func (a artist) value(ref schema.TypeRef, depth int) any {
	atom, _ := a.schema.Resolve(ref)
	switch {
	case isNamed(ref, quantityType):
		return strconv.Itoa(rapid.IntRange(1, 9).Draw(a.t, "quantity"))
	case atom.Scalar != nil && (atom.Map == nil || a.toss("scalar")):
		return a.scalar(*atom.Scalar)
	case atom.Map != nil:
		return a.fields(ref, depth-1)
	}
	return a.items(atom.List, depth-1)
}

func (a artist) scalar(kind schema.Scalar) any {
	switch kind {
	case schema.Numeric:
		return rapid.Int64Range(0, 5).Draw(a.t, "number")
	case schema.Boolean:
		return a.toss("boolean")
	}
	return a.word()
}

// fields draws a map; the deeper it is, the fewer fields it has.
func (a artist) fields(ref schema.TypeRef, depth int) map[string]any {
	fields := a.mapOf(ref)
	drawn := map[string]any{}
	for range rapid.IntRange(0, max(0, min(4, depth))).Draw(a.t, "fields") {
		name := a.fieldName(fields)
		drawn[name] = a.value(fieldType(fields, name), depth)
	}
	return drawn
}

func (a artist) fieldName(fields *schema.Map) string {
	if len(fields.Fields) == 0 {
		return a.word()
	}
	return rapid.SampledFrom(fields.Fields).Draw(a.t, "field").Name
}

func (a artist) items(list *schema.List, depth int) []any {
	drawn := []any{}
	for range rapid.IntRange(0, max(0, min(3, depth))).Draw(a.t, "items") {
		if item := a.item(list, depth); !isShared(list) || len(a.itemsLike(list, item, drawn)) == 0 {
			drawn = append(drawn, item)
		}
	}
	return drawn
}

// item draws an item of a list, with the fields that tell it from others, but
// for those that have a default.
func (a artist) item(list *schema.List, depth int) any {
	item := a.value(list.ElementType, depth)
	fields, ok := item.(map[string]any)
	if !ok || len(list.Keys) == 0 {
		return item
	}
	for _, name := range list.Keys {
		field, _ := a.mapOf(list.ElementType).FindField(name)
		if _, has := fields[name]; !has && (field.Default == nil || a.toss("key")) {
			fields[name] = a.value(field.Type, 0)
		}
	}
	return fields
}

// more gives what may become of a value that was sent: defaults, fields and
// items of others, zeros left out, quantities written otherwise. What has one
// owner as a whole gets only defaults.
func (a artist) more(ref schema.TypeRef, sent any, whole bool) any {
	switch sent := sent.(type) {
	case map[string]any:
		fields := a.mapOf(ref)
		return a.moreFields(fields, sent, whole || fields.ElementRelationship == schema.Atomic)
	case []any:
		list := a.listOf(ref)
		return a.moreItems(list, sent, whole || !isShared(list))
	case string:
		if isNamed(ref, quantityType) && a.toss("rewrite") {
			return sent + "000m"
		}
	}
	return sent
}

func (a artist) moreFields(fields *schema.Map, sent map[string]any, whole bool) map[string]any {
	live := map[string]any{}
	for name, value := range sent {
		zero := value == false || value == int64(0)
		if zero && !isDictionary(fields) && a.toss("leave out") {
			continue
		}
		live[name] = a.more(fieldType(fields, name), value, whole)
	}
	if name := a.fieldName(fields); a.toss("add") && (!whole || !isDictionary(fields)) {
		if _, has := sent[name]; !has {
			live[name] = a.value(fieldType(fields, name), 1)
		}
	}
	return live
}

func (a artist) moreItems(list *schema.List, sent []any, whole bool) []any {
	live := []any{}
	for _, item := range sent {
		more := a.more(list.ElementType, item, whole)
		if fields, ok := more.(map[string]any); ok && isShared(list) {
			// The API server fills in defaults of keys, and keeps keys.
			for _, name := range list.Keys {
				fields[name] = a.keyOf(list, name, item.(map[string]any))
			}
		}
		live = append(live, more)
	}
	if !whole && a.toss("add an item") {
		if item := a.item(list, 1); len(a.itemsLike(list, item, sent)) == 0 {
			live = slices.Insert(live, rapid.IntRange(0, len(live)).Draw(a.t, "at"), item)
		}
	}
	return live
}

// change gives the live value with one change of what was sent, false when
// nothing that can be changed was sent.
func (a artist) change(ref schema.TypeRef, sent, live any) (any, bool) {
	switch sent := sent.(type) {
	case map[string]any:
		return a.changeFields(a.mapOf(ref), sent, live.(map[string]any))
	case []any:
		return a.changeItems(a.listOf(ref), sent, live.([]any))
	}
	return fmt.Sprintf("changed %v", sent), true
}

func (a artist) changeFields(fields *schema.Map, sent, live map[string]any) (any, bool) {
	changed := maps.Clone(live)
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		if _, has := live[name]; !has {
			continue
		}
		if value, ok := a.change(fieldType(fields, name), sent[name], live[name]); ok && a.toss("change "+name) {
			changed[name] = value
			return changed, true
		}
	}
	return nil, false
}

func (a artist) changeItems(list *schema.List, sent, live []any) (any, bool) {
	if len(sent) == 0 {
		return nil, false
	}
	at := rapid.IntRange(0, len(sent)-1).Draw(a.t, "item")
	if isShared(list) {
		gone := slices.DeleteFunc(slices.Clone(live), func(item any) bool { return a.sameItem(list, sent[at], item) })
		return gone, true
	}
	return slices.Delete(slices.Clone(live), at, at+1), true
}
