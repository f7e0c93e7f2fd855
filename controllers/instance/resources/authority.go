// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

// BuildTrustConfigMap holds the authority that clients trust, for those who need
// no key; nil where there is none beyond the public ones.
func BuildTrustConfigMap(in Input) *coreapply.ConfigMapApplyConfiguration {
	if !in.has(tellsClients) || len(in.Authority) == 0 {
		return nil
	}
	return coreapply.ConfigMap(TrustName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithData(map[string]string{TLSAuthorityKey: string(in.Authority)})
}

// BuildAuthoritySecret holds the authority of the Instance's own, with what must
// be remembered of it in annotations. No pod mounts it.
func BuildAuthoritySecret(in Input, files map[string][]byte, annotations map[string]string) *coreapply.SecretApplyConfiguration {
	return secret(in, AuthorityName(in.Instance), corev1.SecretTypeTLS, files).WithAnnotations(annotations)
}
