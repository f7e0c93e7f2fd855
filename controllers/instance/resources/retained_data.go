// SPDX-License-Identifier: Apache-2.0

package resources

import (
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Retained data consists of the objects that may outlive an Instance: its volume claim,
// and the Secrets that are required to read the data or to call an Instance that adopts
// it. They carry the Instance's UID in a label instead of an owner reference.
//
// With label tracking, Argo CD claims every object without an owner whose InstanceLabel
// is the name of one of its applications. An application with the same name as its
// Instance would prune the data at its next sync, because the data is in no repository,
// and delete the data together with the application. These annotations prevent both, and
// keep Argo CD from reporting the data as a permanent difference. All other objects of
// an Instance have an owner, so Argo CD leaves them alone.
const (
	argoSyncOptions    = "argocd.argoproj.io/sync-options"
	argoCompareOptions = "argocd.argoproj.io/compare-options"
)

func argoCDAnnotations() map[string]string {
	return map[string]string{
		argoSyncOptions:    "Prune=false,Delete=false",
		argoCompareOptions: "IgnoreExtraneous",
	}
}

// instanceUIDLabels returns the label that identifies the Instance of retained data.
func instanceUIDLabels(instance *v1alpha1.Instance) map[string]string {
	return map[string]string{v1alpha1.InstanceUIDLabel: string(instance.UID)}
}

// markRetained marks a Secret as retained data.
func markRetained(in Input, secret *coreapply.SecretApplyConfiguration) *coreapply.SecretApplyConfiguration {
	return secret.WithLabels(instanceUIDLabels(in.Instance)).WithAnnotations(argoCDAnnotations())
}

// RetainedSecretNames returns the names of the Secrets that are retained.
func RetainedSecretNames(instance *v1alpha1.Instance) []string {
	return []string{CredentialsSecretName(instance), KeysetsSecretName(instance), SigningKeysSecretName(instance)}
}
