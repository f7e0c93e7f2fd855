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

// externalStorage is a PostgreSQL database that somebody else manages. The server
// is told where it is, and by whose certificates it proves itself.
func externalStorage(spec v1alpha1.ExternalStorage) Storage {
	storage := Storage{
		Kind:    StorageExternal,
		Secrets: []string{spec.SecretRef.Name},
		variables: []*coreapply.EnvVarApplyConfiguration{
			coreapply.EnvVar().WithName(databaseVariable).
				WithValueFrom(coreapply.EnvVarSource().WithSecretKeyRef(coreapply.SecretKeySelector().
					WithName(spec.SecretRef.Name).WithKey(cmp.Or(spec.SecretRef.Key, DatabaseURLKey)))),
		},
		database: &database{networks: spec.CIDRs},
	}
	if spec.CARef != nil {
		storage.trust(spec.CARef)
	}
	return storage
}

// trust has the server trust the authorities of a Secret or ConfigMap.
func (s *Storage) trust(reference *v1alpha1.CertificateReference) {
	if reference.Kind != "ConfigMap" {
		s.Secrets = append(s.Secrets, reference.Name)
	}
	s.variables = append(s.variables, coreapply.EnvVar().WithName(databaseAuthorityVariable).
		WithValue(databaseAuthorityDirectory+"/"+databaseAuthorityFile))
	s.mounts = append(s.mounts, mount{databaseAuthorityVolume(reference), databaseAuthorityDirectory, true})
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
