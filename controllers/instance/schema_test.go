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

// A schema is that of a part of the spec.
type schema = apiextensionsv1.JSONSchemaProps

// A field is one that a user may set in the spec of an Instance and that has no
// fields of its own, or whose hint speaks for those that it has.
type field struct {
	// way is how to come to it, from the spec on. It is followed by one node for
	// each name, the last of which is the field itself.
	way []node
}

// A node is one step of the way to a field. A list is gone through by its first
// item.
type node struct {
	name     string
	isList   bool
	required bool
	schema   *schema // of the item, for a list
}

// String gives the path of a field as hints have it: spec.plans[].name.
func (f field) String() string {
	path := "spec"
	for _, node := range f.way {
		path += "." + node.name
		if node.isList {
			path += "[]"
		}
	}
	return path
}

func (f field) last() node { return f.way[len(f.way)-1] }

// specSchema reads the schema of the spec out of the CRD.
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
		t.Fatal("the CRD has no schema of spec")
	}
	return &spec
}

// fieldsOf gives every field of the spec, in the order of their paths.
func fieldsOf(spec *schema) []field {
	return fieldsBelow(field{}, spec)
}

func fieldsBelow(parent field, of *schema) []field {
	var fields []field
	for _, child := range parent.children(of) {
		if child.isWhole() {
			fields = append(fields, child)
			continue
		}
		fields = append(fields, fieldsBelow(child, child.last().schema)...)
	}
	return fields
}

// children gives the fields that one with a schema has of its own.
func (f field) children(of *schema) []field {
	var children []field
	for _, name := range slices.Sorted(maps.Keys(of.Properties)) {
		property := of.Properties[name]
		next := node{name: name, required: slices.Contains(of.Required, name), schema: &property}
		if f.String() == "spec.storage" {
			next.required = true // each kind may be left out, but only for another
		}
		if property.Type == "array" {
			next.isList, next.schema = true, property.Items.Schema
		}
		children = append(children, field{append(slices.Clip(f.way), next)})
	}
	return children
}

// isWhole says that a field is not to be looked into.
func (f field) isWhole() bool {
	_, hinted := hints[f.String()]
	return hinted || len(f.last().schema.Properties) == 0
}

// values gives two values that the field may have, by its hint, else by its
// schema where that can tell.
func (f field) values() (first, second any, err error) {
	if hint, ok := hints[f.String()]; ok && hint.first != nil {
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
	return nil, nil, fmt.Errorf("add a hint for %s: its schema does not tell what it may be", f)
}

func decodeJSON(text []byte) any {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		panic(fmt.Sprintf("the CRD has the value %q: %v", text, err))
	}
	return value
}

// isImmutable says whether the field's own rules forbid to change it.
func (f field) isImmutable() bool {
	if hints[f.String()].immutable {
		return true
	}
	return slices.ContainsFunc(f.last().schema.XValidations, func(rule apiextensionsv1.ValidationRule) bool {
		return strings.Contains(rule.Rule, "oldSelf")
	})
}

// removable gives the place on the way of what to leave out so that the field is
// not set: itself, or the innermost thing around it that may be left out; -1 when
// nothing may.
func (f field) removable() int {
	for i := len(f.way) - 1; i >= 0; i-- {
		if !f.way[i].required {
			return i
		}
	}
	return -1
}

// with gives a copy of a spec in which the field has a value.
func (f field) with(spec map[string]any, value any) (map[string]any, error) {
	spec = runtime.DeepCopyJSON(spec)
	within, err := f.enter(spec, len(f.way)-1)
	if err != nil {
		return nil, err
	}
	within[f.last().name] = value
	if f.last().isList {
		within[f.last().name] = []any{value}
	}
	return spec, nil
}

// without gives a copy of a spec that has all around the field but not what may
// be left out.
func (f field) without(spec map[string]any) (map[string]any, error) {
	spec = runtime.DeepCopyJSON(spec)
	place := f.removable()
	within, err := f.enter(spec, place)
	if err != nil {
		return nil, err
	}
	delete(within, f.way[place].name)
	return spec, nil
}

// enter goes down a spec for so many nodes of the way and gives what it comes
// into, which is made with what it requires where it is not there.
func (f field) enter(spec map[string]any, nodes int) (map[string]any, error) {
	within := spec
	for i, node := range f.way[:nodes] {
		if within[node.name] == nil {
			made, err := least(field{f.way[:i+1]})
			if err != nil {
				return nil, err
			}
			within[node.name] = made
		}
		if node.isList {
			within = within[node.name].([]any)[0].(map[string]any)
		} else {
			within = within[node.name].(map[string]any)
		}
	}
	return within, nil
}

// least gives a value for a field, with no more in it than is required.
func least(of field) (value any, err error) {
	if of.isWhole() {
		value, _, err = of.values()
	} else {
		value, err = leastObject(of)
	}
	if of.last().isList {
		return []any{value}, err
	}
	return value, err
}

func leastObject(of field) (map[string]any, error) {
	made := map[string]any{}
	for _, child := range of.children(of.last().schema) {
		if !child.last().required {
			continue
		}
		value, err := least(child)
		if err != nil {
			return nil, err
		}
		made[child.last().name] = value
	}
	return made, nil
}
