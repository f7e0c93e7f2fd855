// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// A schema is the schema of a part of the spec.
type schema = apiextensionsv1.JSONSchemaProps

// A field is a field of an Instance's spec that users may set and that either has no
// nested fields or has a hint that covers them.
type field struct {
	// path leads from the spec to the field, with one element per name. The last element is
	// the field itself.
	path []pathElement
}

// A pathElement is one element of a field's path. A list is represented by its first
// item.
type pathElement struct {
	name     string
	isList   bool
	required bool
	schema   *schema // the item's schema, for a list
}

// String returns the path of a field as used by hints: spec.plans[].name.
func (f field) String() string {
	path := "spec"
	for _, element := range f.path {
		path += "." + element.name
		if element.isList {
			path += "[]"
		}
	}
	return path
}

func (f field) last() pathElement { return f.path[len(f.path)-1] }

// specSchema returns the schema of the spec from the CRD.
func specSchema(t *testing.T) *schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "bases", "anamnesis.dev_instances.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &definition); err != nil {
		t.Fatal(err)
	}
	spec, ok := definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	if !ok {
		t.Fatal("the CRD has no schema for spec")
	}
	return &spec
}

// listFields returns every field of the spec, ordered by path.
func listFields(spec *schema) []field {
	return listFieldsUnder(field{}, spec)
}

func listFieldsUnder(parent field, schema *schema) []field {
	var fields []field
	for _, child := range parent.children(schema) {
		if child.isLeaf() {
			fields = append(fields, child)
			continue
		}
		fields = append(fields, listFieldsUnder(child, child.last().schema)...)
	}
	return fields
}

// children returns the nested fields of a field with a schema.
func (f field) children(schema *schema) []field {
	var children []field
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		next := pathElement{name: name, required: slices.Contains(schema.Required, name), schema: &property}
		if f.String() == "spec.storage" {
			next.required = true // each kind may be unset, but only in favor of another
		}
		if property.Type == "array" {
			next.isList, next.schema = true, property.Items.Schema
		}
		children = append(children, field{append(slices.Clip(f.path), next)})
	}
	return children
}

// isLeaf reports whether the nested fields of a field are not listed.
func (f field) isLeaf() bool {
	_, hinted := fieldHints[f.String()]
	return hinted || len(f.last().schema.Properties) == 0
}

// sampleValues returns two valid values for the field, from its hint or else from its
// schema.
func (f field) sampleValues() (first, second any, err error) {
	if hint, ok := fieldHints[f.String()]; ok && hint.first != nil {
		return hint.first, hint.second, nil
	}
	schema := f.last().schema
	switch {
	case schema.Type == "boolean":
		return true, false, nil
	case len(schema.Enum) > 1:
		return decodeJSON(schema.Enum[0].Raw), decodeJSON(schema.Enum[1].Raw), nil
	case schema.Type == "integer" && schema.Minimum != nil:
		return int64(*schema.Minimum) + 1, int64(*schema.Minimum) + 2, nil
	}
	return nil, nil, fmt.Errorf("no sample values for %s: add a hint to fieldHints", f)
}

func decodeJSON(text []byte) any {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		panic(fmt.Sprintf("decoding value %q of the CRD: %v", text, err))
	}
	return value
}

// isImmutable reports whether the field's own rules forbid changes.
func (f field) isImmutable() bool {
	if fieldHints[f.String()].immutable {
		return true
	}
	return slices.ContainsFunc(f.last().schema.XValidations, func(rule apiextensionsv1.ValidationRule) bool {
		return strings.Contains(rule.Rule, "oldSelf")
	})
}

// removableIndex returns the path index of the element to remove in order to unset the
// field: the field itself, or its innermost optional parent. It returns -1 if neither is
// optional.
func (f field) removableIndex() int {
	for i := len(f.path) - 1; i >= 0; i-- {
		if !f.path[i].required {
			return i
		}
	}
	return -1
}

// withValue returns a copy of a spec with the field set to a value.
func (f field) withValue(spec map[string]any, value any) (map[string]any, error) {
	spec = runtime.DeepCopyJSON(spec)
	parent, err := f.descend(spec, len(f.path)-1)
	if err != nil {
		return nil, err
	}
	parent[f.last().name] = value
	if f.last().isList {
		parent[f.last().name] = []any{value}
	}
	return spec, nil
}

// without returns a copy of a spec with the field's parents but without the element at
// removableIndex.
func (f field) without(spec map[string]any) (map[string]any, error) {
	spec = runtime.DeepCopyJSON(spec)
	index := f.removableIndex()
	parent, err := f.descend(spec, index)
	if err != nil {
		return nil, err
	}
	delete(parent, f.path[index].name)
	return spec, nil
}

// descend follows the first elements of the path and returns the object that they lead to.
// It creates missing objects with their required fields.
func (f field) descend(spec map[string]any, nodes int) (map[string]any, error) {
	current := spec
	for i, element := range f.path[:nodes] {
		if current[element.name] == nil {
			created, err := minimalValue(field{f.path[:i+1]})
			if err != nil {
				return nil, err
			}
			current[element.name] = created
		}
		if element.isList {
			current = current[element.name].([]any)[0].(map[string]any)
		} else {
			current = current[element.name].(map[string]any)
		}
	}
	return current, nil
}

// minimalValue returns a value for a field with only its required fields.
func minimalValue(f field) (value any, err error) {
	if f.isLeaf() {
		value, _, err = f.sampleValues()
	} else {
		value, err = minimalObject(f)
	}
	if f.last().isList {
		return []any{value}, err
	}
	return value, err
}

func minimalObject(f field) (map[string]any, error) {
	object := map[string]any{}
	for _, child := range f.children(f.last().schema) {
		if !child.last().required {
			continue
		}
		value, err := minimalValue(child)
		if err != nil {
			return nil, err
		}
		object[child.last().name] = value
	}
	return object, nil
}
