// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

// BuildAuthoritySecret holds the authority of the Instance's own, with what must
// be remembered of it in annotations. No pod mounts it.
func BuildAuthoritySecret(in Input, files map[string][]byte, annotations map[string]string) *coreapply.SecretApplyConfiguration {
	return secret(in, AuthorityName(in.Instance), corev1.SecretTypeTLS, files).WithAnnotations(annotations)
}
