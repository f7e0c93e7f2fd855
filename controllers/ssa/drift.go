// SPDX-License-Identifier: Apache-2.0

package ssa

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Drift lists the fields of a live object that still differ from the sent object after a
// write, because something in the API server, such as a mutating admission policy,
// enforces other values. It contains no values of Secrets, so it can be displayed. It is
// shared and must not be modified.
type Drift struct {
	Kind, Name string
	// Fields that differ, ordered by path. At least one.
	Fields []DriftedField
	// ImmutableFields are the paths of the immutable fields because of which the API server
	// rejected the write. Empty if it accepted the write.
	ImmutableFields []string
}

// A DriftedField is one field of a Drift.
type DriftedField struct {
	// Path of the field, for example spec.ports[port=443,protocol="TCP"].name.
	Path string
	// Desired and Live are the two values as JSON, truncated if long. Live is empty if the
	// field is missing. Both are empty if the object is a Secret.
	Desired, Live string
	// Managers are the other field managers that own the field, according to the managed
	// fields. Admission policies and webhooks do not appear there.
	Managers []string
}

// maxShownFields limits the number of fields in a message, maxShownValueLength the number
// of characters of each value.
const (
	maxShownFields      = 5
	maxShownValueLength = 100
)

// String formats the drift as a sentence without a full stop.
func (d *Drift) String() string {
	texts := make([]string, 0, len(d.Fields))
	for _, field := range d.Fields {
		texts = append(texts, field.String())
	}
	text := fmt.Sprintf("%s %s has drifted: %s", d.Kind, d.Name, joinTruncated(texts, "; "))
	if len(d.ImmutableFields) > 0 {
		text += "; immutable fields: " + strings.Join(d.ImmutableFields, " and ")
	}
	return text
}

func (f DriftedField) String() string {
	text := f.Path
	switch {
	case f.Desired == "" && f.Live == "":
		text += " differs"
	case f.Live == "":
		text += " is absent instead of " + f.Desired
	default:
		text += " is " + f.Live + " instead of " + f.Desired
	}
	if len(f.Managers) > 0 {
		return text + ", set by " + strings.Join(f.Managers, " and ")
	}
	return text
}

// joinTruncated joins the first maxShownFields texts and appends the number of omitted
// texts.
func joinTruncated(texts []string, separator string) string {
	more := len(texts) - maxShownFields
	if more <= 0 {
		return strings.Join(texts, separator)
	}
	return fmt.Sprintf("%s%sand %d more", strings.Join(texts[:maxShownFields], separator), separator, more)
}

// newDrift returns the drift described by the differences, or nil if the list is empty.
// entries are the managed fields of the live object; managers other than the given one
// are named.
func newDrift(sent *unstructured.Unstructured, found []difference, entries []metav1.ManagedFieldsEntry, manager string) *Drift {
	if len(found) == 0 {
		return nil
	}
	drift := &Drift{Kind: sent.GetKind(), Name: sent.GetName()}
	for _, d := range found {
		field := DriftedField{Path: d.String(), Managers: otherManagers(entries, d.ownedPath, sent.GetAPIVersion(), manager)}
		if !isSecret(sent) {
			field.Desired, field.Live = formatValue(d.desired), formatValue(d.live)
		}
		drift.Fields = append(drift.Fields, field)
	}
	return drift
}

func isSecret(object *unstructured.Unstructured) bool {
	return object.GetAPIVersion() == "v1" && object.GetKind() == "Secret"
}

// formatValue returns a value as JSON, truncated if long. Empty for nil.
func formatValue(value any) string {
	if value == nil {
		return ""
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%T", value)
	}
	if text := []rune(string(encoded)); len(text) > maxShownValueLength {
		return string(text[:maxShownValueLength]) + "…"
	}
	return string(encoded)
}

// A fingerprint identifies a set of differences by their paths and live values, without
// revealing the values.
type fingerprint [sha256.Size]byte

func newFingerprint(found []difference) fingerprint {
	sum := sha256.New()
	for _, d := range found {
		encoded, err := json.Marshal([]any{d.path.String(), d.live})
		if err != nil {
			panic(fmt.Sprintf("encoding decoded JSON: %v", err))
		}
		sum.Write(encoded)
	}
	return fingerprint(sum.Sum(nil))
}
