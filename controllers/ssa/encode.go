// SPDX-License-Identifier: Apache-2.0

package ssa

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

// HashAnnotation holds the hash of the object as last sent.
const HashAnnotation = "anamnesis.dev/applied-hash"

// hashLength is the length of a hash in hexadecimal digits.
const hashLength = 12

// ToUnstructured returns the fields of an apply configuration.
func ToUnstructured(desired runtime.ApplyConfiguration) (*unstructured.Unstructured, error) {
	encoded, err := json.Marshal(desired)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", desired, err)
	}
	fields := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(encoded, &fields.Object); err != nil {
		return nil, fmt.Errorf("decoding %T: %w", desired, err)
	}
	return fields, nil
}

// Hash returns a hash of the value's JSON. It is short enough to be part of a name.
func Hash(value any) (string, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encoding %T: %w", value, err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])[:hashLength], nil
}

// withHashAnnotation returns a copy of the object with its hash in HashAnnotation.
func withHashAnnotation(desired *unstructured.Unstructured) *unstructured.Unstructured {
	sent := desired.DeepCopy()
	hash, err := Hash(desired.Object)
	if err != nil {
		panic(fmt.Sprintf("encoding decoded JSON: %v", err))
	}
	annotations := maps.Clone(sent.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[HashAnnotation] = hash
	sent.SetAnnotations(annotations)
	return sent
}

// appliedHash returns the hash that an object carries.
func appliedHash(object metav1.Object) string { return object.GetAnnotations()[HashAnnotation] }
