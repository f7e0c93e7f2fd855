// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// HashAnnotation holds the hash of what was last sent for an object.
const HashAnnotation = "anamnesis.dev/applied-hash"

// hashDigits is the length of a hash, in hexadecimal digits.
const hashDigits = 12

// Encode gives the fields of an apply configuration.
func Encode(wanted runtime.ApplyConfiguration) (*unstructured.Unstructured, error) {
	encoded, err := json.Marshal(wanted)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", wanted, err)
	}
	fields := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(encoded, &fields.Object); err != nil {
		return nil, fmt.Errorf("decoding %T: %w", wanted, err)
	}
	return fields, nil
}

// Hash tells two values apart that encode to different JSON. It is short enough
// for a name.
func Hash(value any) (string, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encoding %T: %w", value, err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])[:hashDigits], nil
}

// withHash copies an object and notes its hash in HashAnnotation.
func withHash(wanted *unstructured.Unstructured) *unstructured.Unstructured {
	sent := wanted.DeepCopy()
	hash, err := Hash(wanted.Object)
	if err != nil {
		panic(fmt.Sprintf("what was decoded from JSON can be encoded: %v", err))
	}
	annotations := maps.Clone(sent.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[HashAnnotation] = hash
	sent.SetAnnotations(annotations)
	return sent
}

// hashOf gives the hash that an object carries.
func hashOf(object metav1.Object) string { return object.GetAnnotations()[HashAnnotation] }
