// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// Files of the server's --keysets-dir.
const (
	encryptionKeysetFile = "encryption.json"
	lookupKeysetFile     = "lookup.json"
)

// BuildKeysetsSecret holds what the server encrypts data by, and finds it by. Nil
// for servers that do not encrypt. notes are annotations.
func BuildKeysetsSecret(in Input, keysets pki.Keysets, notes map[string]string) *coreapply.SecretApplyConfiguration {
	if !in.has(encrypts) {
		return nil
	}
	return noted(asData(in, secret(in, KeysetsName(in.Instance), corev1.SecretTypeOpaque, map[string][]byte{
		encryptionKeysetFile: keysets.Encryption,
		lookupKeysetFile:     keysets.Lookup,
	})), notes)
}

// KeysetsIn are the keysets in the content of the Secret.
func KeysetsIn(content map[string][]byte) pki.Keysets {
	return pki.Keysets{Encryption: content[encryptionKeysetFile], Lookup: content[lookupKeysetFile]}
}
