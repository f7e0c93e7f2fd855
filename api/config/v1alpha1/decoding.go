// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Decode decodes a file, which may be empty. It ignores unknown fields and returns their
// paths and lines, such as "plans.trial.parse (line 3)". It sets no defaults and
// validates only the version.
func Decode(file []byte) (c *ServerConfiguration, unknown []string, err error) {
	rest, logo := extractLogo(file)
	c, unknown, err = decodeYAML(rest)
	switch {
	case logo == "":
	case err == nil && c.Page != nil && c.Page.Logo == logoPlaceholder:
		c.Page.Logo = logo
	default: // the extracted text was not the logo
		c, unknown, err = decodeYAML(file)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("invalid configuration: %w", err)
	}
	return c, unknown, nil
}

// DecodeStrict is like Decode, but rejects unknown fields.
func DecodeStrict(file []byte) (*ServerConfiguration, error) {
	c, unknown, err := Decode(file)
	if err != nil {
		return nil, err
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("invalid configuration: unknown field %s: check the spelling, or remove it", strings.Join(unknown, ", "))
	}
	return c, nil
}

func decodeYAML(file []byte) (*ServerConfiguration, []string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(file, &document); err != nil {
		return nil, nil, cleanYAMLError(err)
	}
	var c ServerConfiguration
	if document.IsZero() {
		return &c, nil, nil
	}
	root := document.Content[0]
	if err := root.Decode(&c); err != nil {
		return nil, nil, cleanYAMLError(err)
	}
	if err := c.validateVersion(); err != nil {
		return nil, nil, err
	}
	return &c, unknownFields(root, reflect.TypeFor[ServerConfiguration](), ""), nil
}

// cleanYAMLError returns the error as a single line.
func cleanYAMLError(err error) error {
	var kinds *yaml.TypeError
	if errors.As(err, &kinds) {
		return errors.New(strings.Join(kinds.Errors, "; "))
	}
	return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
}

func (c *ServerConfiguration) validateVersion() error {
	var errs ErrorList
	if c.APIVersion != "" && c.APIVersion != APIVersion {
		errs.add("apiVersion", "unsupported version %.100q: expected %s, or no value", c.APIVersion, APIVersion)
	}
	if c.Kind != "" && c.Kind != Kind {
		errs.add("kind", "unsupported kind %.100q: expected %s, or no value", c.Kind, Kind)
	}
	return errs.toError()
}

// unknownFields returns the fields of a mapping that the struct type does not define, in
// file order. The node must have been decoded into the type without an error.
func unknownFields(node *yaml.Node, t reflect.Type, path string) []string {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if node.Kind != yaml.MappingNode || t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
		return nil
	}
	var unknown []string
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Tag == "!!merge" {
			unknown = append(unknown, unknownMergedFields(value, t, path)...)
		} else if field, known := fieldType(t, key.Value); known {
			unknown = append(unknown, unknownFields(value, field, path+key.Value+".")...)
		} else {
			unknown = append(unknown, fmt.Sprintf("%s%s (line %d)", path, key.Value, key.Line))
		}
	}
	return unknown
}

// unknownMergedFields returns the unknown fields of the value of a merge key: a mapping
// or a sequence of mappings.
func unknownMergedFields(value *yaml.Node, t reflect.Type, path string) []string {
	if value.Kind != yaml.SequenceNode {
		return unknownFields(value, t, path)
	}
	var unknown []string
	for _, mapping := range value.Content {
		unknown = append(unknown, unknownFields(mapping, t, path)...)
	}
	return unknown
}

// fieldType returns the type of a struct's field, or of a map's values.
func fieldType(t reflect.Type, key string) (reflect.Type, bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	for field := range t.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); name == key {
			return field.Type, true
		}
	}
	return nil, false
}
