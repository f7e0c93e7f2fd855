// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

// BuildCAConfigMap returns the ConfigMap that publishes the CA bundle to clients without
// an application key. It returns nil if a public CA issued the certificate.
func BuildCAConfigMap(in Input) *coreapply.ConfigMapApplyConfiguration {
	if len(in.CABundle) == 0 {
		return nil
	}
	return coreapply.ConfigMap(CAConfigMapName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithData(map[string]string{TLSCAKey: string(in.CABundle)})
}

// BuildCASecret returns the Secret with the Instance's own CA and its rotation state in
// annotations. No pod mounts it.
func BuildCASecret(in Input, files map[string][]byte, annotations map[string]string) *coreapply.SecretApplyConfiguration {
	return newSecret(in, CASecretName(in.Instance), corev1.SecretTypeTLS, files).WithAnnotations(annotations)
}
