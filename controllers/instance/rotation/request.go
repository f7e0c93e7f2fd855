// SPDX-License-Identifier: Apache-2.0

// Package rotation parses the annotation that requests key rotations. Packages instance
// and pki rotate the keys.
package rotation

import (
	"slices"
	"strings"
)

// Annotation requests key rotations as a list of targets with a value each, such as
// "keys:1,signing-keys:2". Each new value of a target triggers one rotation.
const Annotation = "anamnesis.dev/rotate"

// Annotations on the Secret with the keys that store the state of a rotation.
const (
	// RotatedAnnotation holds the last value that was handled.
	RotatedAnnotation = "anamnesis.dev/rotated"
	// NextSinceAnnotation holds the time since which the next key has been published.
	NextSinceAnnotation = "anamnesis.dev/next-since"
	// PreviousSinceAnnotation holds the time at which the previous key was replaced.
	PreviousSinceAnnotation = "anamnesis.dev/previous-since"
	// RetiringAnnotation is a comma-separated list of the files of keys that only verify.
	RetiringAnnotation = "anamnesis.dev/retiring"
)

// The rotation targets.
const (
	// CA is a certificate authority: the operator's if the annotation is on its Secret, or
	// the Instance's own if the annotation is on an Instance.
	CA = "ca"
	// ApplicationKeys are the applications' keys.
	ApplicationKeys = "keys"
	// Keysets are the server's encryption keysets.
	Keysets = "keysets"
	// SigningKeys are the server's token signing keys.
	SigningKeys = "signing-keys"
)

var targets = []string{CA, ApplicationKeys, Keysets, SigningKeys}

// Targets returns the rotation targets in order.
func Targets() []string { return slices.Clone(targets) }

// Request returns the requested value for a target, or an empty string. If the target
// occurs several times, the last value wins.
func Request(annotations map[string]string, target string) string {
	request := ""
	for _, e := range parseEntries(annotations) {
		if e.target == target && e.value != "" {
			request = e.value
		}
	}
	return request
}

// InvalidEntries returns the entries of the annotation, as written, that name an unknown
// target or have no value.
func InvalidEntries(annotations map[string]string) []string {
	var invalid []string
	for _, e := range parseEntries(annotations) {
		if e.value == "" || !slices.Contains(targets, e.target) {
			invalid = append(invalid, e.text)
		}
	}
	return invalid
}

type entry struct{ text, target, value string }

func parseEntries(annotations map[string]string) []entry {
	var entries []entry
	for text := range strings.SplitSeq(annotations[Annotation], ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		target, value, _ := strings.Cut(text, ":")
		entries = append(entries, entry{text, target, value})
	}
	return entries
}
