// SPDX-License-Identifier: Apache-2.0

package resources

import (
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Data is what may outlive an Instance: its volume claim, and the Secrets without
// which nobody could read what is there, or call the Instance that takes it up.
// No owner reference says whose it is: a label with the Instance's UID does.
//
// Argo CD takes for its own what carries InstanceLabel with the name of one of
// its applications and has no owner, as long as it tracks by label: an
// application called as its Instance would prune the data at its next sync, since
// it is in no repository, and delete it together with itself. These annotations
// forbid both, and that the data counts as a difference for ever. All else of an
// Instance has an owner and is left alone.
const (
	argoSyncOptions    = "argocd.argoproj.io/sync-options"
	argoCompareOptions = "argocd.argoproj.io/compare-options"
)

func spareAnnotations() map[string]string {
	return map[string]string{
		argoSyncOptions:    "Prune=false,Delete=false",
		argoCompareOptions: "IgnoreExtraneous",
	}
}

// ownLabel tells whose data it is.
func ownLabel(instance *v1alpha1.Instance) map[string]string {
	return map[string]string{v1alpha1.InstanceUIDLabel: string(instance.UID)}
}

// asData makes data of a Secret, from the revision on in which it is.
func asData(in Input, secret *coreapply.SecretApplyConfiguration) *coreapply.SecretApplyConfiguration {
	if !in.has(keepsKeys) {
		return secret
	}
	return secret.WithLabels(ownLabel(in.Instance)).WithAnnotations(spareAnnotations())
}

// DataSecrets are the names of the Secrets that are data.
func DataSecrets(instance *v1alpha1.Instance) []string {
	return []string{CredentialsName(instance), KeysetsName(instance), SigningKeysName(instance)}
}
