// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// A Position is a line of a content file.
type Position struct {
	File string
	Line int
}

// A Scalar is a text with its line. Both are zero if unset.
type Scalar struct {
	Text string
	Line int
}

// UnmarshalYAML reads any scalar literally, without YAML type inference, so that no
// remains a string.
func (s *Scalar) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode {
		return newTypeError(node.Line, "expected a word or a sentence, got a list or a mapping")
	}
	*s = Scalar{Text: node.Value, Line: node.Line}
	return nil
}

// ScalarOrList is a list of texts, which a file may write as a single scalar.
type ScalarOrList []Scalar

// UnmarshalYAML reads a list, or a scalar as a list with one entry.
func (s *ScalarOrList) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		return node.Decode((*[]Scalar)(s))
	}
	var word Scalar
	if err := node.Decode(&word); err != nil {
		return err
	}
	*s = ScalarOrList{word}
	return nil
}

// A Number is a number with its line. Both are zero if unset.
type Number struct {
	Value float64
	Line  int
}

// UnmarshalYAML reads an integer or decimal number.
func (n *Number) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode || node.Decode(&n.Value) != nil {
		return newTypeError(node.Line, "expected a number, got %q", node.Value)
	}
	n.Line = node.Line
	return nil
}

// A Bool is true or false with its line. Both are zero if unset.
type Bool struct {
	Value bool
	Line  int
}

// UnmarshalYAML reads true or false.
func (b *Bool) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode || node.Decode(&b.Value) != nil {
		return newTypeError(node.Line, "expected true or false, got %q", node.Value)
	}
	b.Line = node.Line
	return nil
}

// newTypeError returns an error after which package yaml continues decoding, so that
// all errors in a file are reported at once.
func newTypeError(line int, format string, args ...any) error {
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: ", line) + fmt.Sprintf(format, args...)}}
}

// typeErrorMessages returns the messages of errors after which decoding continued.
func typeErrorMessages(err error) ([]string, bool) {
	var typeError *yaml.TypeError
	if !errors.As(err, &typeError) {
		return nil, false
	}
	return typeError.Errors, true
}
