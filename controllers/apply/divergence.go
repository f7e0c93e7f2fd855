// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A Divergence is what a live object holds otherwise than it was sent, and holds
// on to: somebody behind the API server, such as a mutating admission policy,
// means other values. It is safe to be shown: it has no value of a Secret. It is
// shared, and must not be changed.
type Divergence struct {
	Kind, Name string
	// Fields that differ, in the order of their paths; at least one.
	Fields []DivergingField
	// Immutable are the paths that the API server named when it refused what was
	// sent because nobody can change them; none when it took what was sent.
	Immutable []string
}

// A DivergingField is one field of a Divergence.
type DivergingField struct {
	// Path of the field, such as spec.ports[port=443,protocol="TCP"].name.
	Path string
	// Sent and Live are the two values as JSON, cut when they are long; Live is
	// empty where there is no such field, and both are where the object is a
	// Secret.
	Sent, Live string
	// Managers are the other field managers that own the field, by what the API
	// server knows. It knows of none who changes objects on admission.
	Managers []string
}

// shownFields is how many fields a text names, and shownValue how many
// characters of a value.
const (
	shownFields = 5
	shownValue  = 100
)

// String gives a sentence for people, without a full stop.
func (d *Divergence) String() string {
	texts := make([]string, 0, len(d.Fields))
	for _, field := range d.Fields {
		texts = append(texts, field.String())
	}
	text := fmt.Sprintf("%s %s is not as sent: %s", d.Kind, d.Name, joinSome(texts, "; "))
	if len(d.Immutable) > 0 {
		text += "; nobody can change " + strings.Join(d.Immutable, " and ")
	}
	return text
}

func (f DivergingField) String() string {
	text := f.Path
	switch {
	case f.Sent == "" && f.Live == "":
		text += " differs"
	case f.Live == "":
		text += " is absent instead of " + f.Sent
	default:
		text += " is " + f.Live + " instead of " + f.Sent
	}
	if len(f.Managers) > 0 {
		return text + ", set by " + strings.Join(f.Managers, " and ")
	}
	return text
}

// joinSome joins the first few texts and says how many more there are.
func joinSome(texts []string, separator string) string {
	more := len(texts) - shownFields
	if more <= 0 {
		return strings.Join(texts, separator)
	}
	return fmt.Sprintf("%s%sand %d more", strings.Join(texts[:shownFields], separator), separator, more)
}

// describe gives the divergence that differences make, nil for none. entries
// tell who owns the fields of the live object besides the manager.
func describe(sent *unstructured.Unstructured, found []difference, entries []metav1.ManagedFieldsEntry, manager string) *Divergence {
	if len(found) == 0 {
		return nil
	}
	divergence := &Divergence{Kind: sent.GetKind(), Name: sent.GetName()}
	for _, each := range found {
		field := DivergingField{Path: each.String(), Managers: othersOwning(entries, each.owned, sent.GetAPIVersion(), manager)}
		if !isSecret(sent) {
			field.Sent, field.Live = show(each.sent), show(each.live)
		}
		divergence.Fields = append(divergence.Fields, field)
	}
	return divergence
}

func isSecret(object *unstructured.Unstructured) bool {
	return object.GetAPIVersion() == "v1" && object.GetKind() == "Secret"
}

// show gives a value as JSON, cut when it is long; nothing for nil.
func show(value any) string {
	if value == nil {
		return ""
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprintf("%T", value)
	}
	if text := []rune(string(encoded)); len(text) > shownValue {
		return string(text[:shownValue]) + "…"
	}
	return string(encoded)
}

// A fingerprint tells sets of differences apart by where they are and what the
// live object holds there. It gives no value away.
type fingerprint [sha256.Size]byte

func fingerprintOf(found []difference) fingerprint {
	sum := sha256.New()
	for _, each := range found {
		encoded, err := json.Marshal([]any{each.path.String(), each.live})
		if err != nil {
			panic(fmt.Sprintf("what was decoded from JSON can be encoded: %v", err))
		}
		sum.Write(encoded)
	}
	return fingerprint(sum.Sum(nil))
}
