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

// BuildKeysetsSecret returns the Secret with the keysets for encryption and lookups.
func BuildKeysetsSecret(in Input, keysets pki.Keysets, annotations map[string]string) *coreapply.SecretApplyConfiguration {
	return withAnnotations(markRetained(in, newSecret(in, KeysetsSecretName(in.Instance), corev1.SecretTypeOpaque, map[string][]byte{
		encryptionKeysetFile: keysets.Encryption,
		lookupKeysetFile:     keysets.Lookup,
	})), annotations)
}

// ParseKeysets returns the keysets in the Secret's content.
func ParseKeysets(content map[string][]byte) pki.Keysets {
	return pki.Keysets{Encryption: content[encryptionKeysetFile], Lookup: content[lookupKeysetFile]}
}
