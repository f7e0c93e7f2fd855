// SPDX-License-Identifier: Apache-2.0

// Package rotation reads from annotations which keys somebody asks to be turned.
package rotation

import (
	"slices"
	"strings"
)

// Annotation asks for keys to be turned: words with a value each, such as
// "keys:1,signing-keys:2". Each new value of a word is met once.
const Annotation = "anamnesis.dev/rotate"

// Annotations by which the Secret that holds keys remembers how far they turned.
const (
	// MetAnnotation is the value that was last met.
	MetAnnotation = "anamnesis.dev/rotated"
	// NextSinceAnnotation is since when others know of the key that comes next.
	NextSinceAnnotation = "anamnesis.dev/next-since"
	// PreviousSinceAnnotation is since when the key that was before is used no more.
	PreviousSinceAnnotation = "anamnesis.dev/previous-since"
	// RetiringAnnotation names, with commas between them, the files of keys that sign
	// no more.
	RetiringAnnotation = "anamnesis.dev/retiring"
)

// The words, and what is turned by them.
const (
	// Authority is the authority that issues certificates: on its own Secret that of
	// the operator, on an Instance the one of its own.
	Authority = "authority"
	// Keys are those of the applications.
	Keys = "keys"
	// Keysets are what the server encrypts by.
	Keysets = "keysets"
	// SigningKeys are what the server signs tokens by.
	SigningKeys = "signing-keys"
)

var words = []string{Authority, Keys, Keysets, SigningKeys}

// Words are those that may be asked for, in their order.
func Words() []string { return slices.Clone(words) }

// Request is the value that stands behind a word in the annotation; empty for
// none. Of several the last counts.
func Request(annotations map[string]string, word string) string {
	request := ""
	for _, asked := range split(annotations) {
		if asked.word == word && asked.value != "" {
			request = asked.value
		}
	}
	return request
}

// Unknown are the parts of the annotation that ask for nothing, as they are
// written: their word is none of Words, or has no value.
func Unknown(annotations map[string]string) []string {
	var unknown []string
	for _, asked := range split(annotations) {
		if asked.value == "" || !slices.Contains(words, asked.word) {
			unknown = append(unknown, asked.text)
		}
	}
	return unknown
}

type part struct{ text, word, value string }

func split(annotations map[string]string) []part {
	var parts []part
	for text := range strings.SplitSeq(annotations[Annotation], ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		word, value, _ := strings.Cut(text, ":")
		parts = append(parts, part{text, word, value})
	}
	return parts
}
