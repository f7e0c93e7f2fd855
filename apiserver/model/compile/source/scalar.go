// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// A Position is a line of a file of the content.
type Position struct {
	File string
	Line int
}

// A Word is a piece of text and the line it stands on. Left out, both are
// zero.
type Word struct {
	Text string
	Line int
}

// UnmarshalYAML reads any scalar as it is written, without the guesses of
// YAML: no stays no.
func (w *Word) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode {
		return typeError(node.Line, "expected a word or a sentence, not a list or a mapping")
	}
	*w = Word{Text: node.Value, Line: node.Line}
	return nil
}

// OneOrMore are words, which a file may give as one word or as a list.
type OneOrMore []Word

// UnmarshalYAML reads a scalar as a list of one.
func (w *OneOrMore) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		return node.Decode((*[]Word)(w))
	}
	var word Word
	if err := node.Decode(&word); err != nil {
		return err
	}
	*w = OneOrMore{word}
	return nil
}

// A Number is a number and the line it stands on. Left out, both are zero.
type Number struct {
	Value float64
	Line  int
}

// UnmarshalYAML reads a whole or decimal number.
func (n *Number) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode || node.Decode(&n.Value) != nil {
		return typeError(node.Line, "expected a number, not %q", node.Value)
	}
	n.Line = node.Line
	return nil
}

// A Flag is true or false and the line it stands on. Left out, both are zero.
type Flag struct {
	Value bool
	Line  int
}

// UnmarshalYAML reads true or false.
func (f *Flag) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode || node.Decode(&f.Value) != nil {
		return typeError(node.Line, "expected true or false, not %q", node.Value)
	}
	f.Line = node.Line
	return nil
}

// typeError is the kind of error after which package yaml goes on decoding,
// so that all errors of a file are found at once.
func typeError(line int, format string, args ...any) error {
	return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: ", line) + fmt.Sprintf(format, args...)}}
}

// asTypeError gives the messages of the errors after which decoding went on.
func asTypeError(err error) ([]string, bool) {
	var typeError *yaml.TypeError
	if !errors.As(err, &typeError) {
		return nil, false
	}
	return typeError.Errors, true
}
