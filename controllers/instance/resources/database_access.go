// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"

	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	// DatabaseURLKey is the key of the Secret of external storage whose value is
	// the database's URL, where the Instance names no other.
	DatabaseURLKey = "url"

	// DatabaseAuthorityKey is the key of the Secret or ConfigMap with the
	// authorities of the database, where the Instance names no other.
	DatabaseAuthorityKey = "ca.crt"

	databaseVariable = "ANAMNESIS_DATABASE"

	// databaseAuthorityVariable names the file with the authorities to the
	// server's PostgreSQL library. A sslrootcert in the URL counts instead.
	databaseAuthorityVariable = "PGSSLROOTCERT"
	databaseAuthorityFile     = "ca.crt"
)

// databaseEnv tells the server where an external database is, and by whose
// certificates it proves itself.
func databaseEnv(instance *v1alpha1.Instance) []*coreapply.EnvVarApplyConfiguration {
	external := instance.Spec.Storage.External
	if external == nil {
		return nil
	}
	variables := []*coreapply.EnvVarApplyConfiguration{
		coreapply.EnvVar().WithName(databaseVariable).
			WithValueFrom(coreapply.EnvVarSource().WithSecretKeyRef(coreapply.SecretKeySelector().
				WithName(external.SecretRef.Name).WithKey(cmp.Or(external.SecretRef.Key, DatabaseURLKey)))),
	}
	if external.CARef != nil {
		variables = append(variables, coreapply.EnvVar().WithName(databaseAuthorityVariable).
			WithValue(databaseAuthorityDirectory+"/"+databaseAuthorityFile))
	}
	return variables
}

// databaseAuthorityVolume holds the authorities of an external database under one
// name, whatever object and key they are in.
func databaseAuthorityVolume(reference *v1alpha1.CertificateReference) *coreapply.VolumeApplyConfiguration {
	volume := coreapply.Volume().WithName("database-ca")
	file := coreapply.KeyToPath().WithKey(cmp.Or(reference.Key, DatabaseAuthorityKey)).WithPath(databaseAuthorityFile)
	if reference.Kind == "ConfigMap" {
		return volume.WithConfigMap(coreapply.ConfigMapVolumeSource().WithName(reference.Name).WithItems(file))
	}
	return volume.WithSecret(coreapply.SecretVolumeSource().WithSecretName(reference.Name).WithItems(file).WithDefaultMode(secretMode))
}
