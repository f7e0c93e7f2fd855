// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"

	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	// DatabaseURLKey is the default key of the database's URL in the Secret of external
	// storage.
	DatabaseURLKey = "url"

	// DatabaseCAKey is the default key of the database's CA bundle in its Secret or
	// ConfigMap.
	DatabaseCAKey = "ca.crt"

	databaseURLEnv = "ANAMNESIS_DATABASE"

	// databaseCAEnv passes the path of the CA bundle to the server's PostgreSQL library. An
	// sslrootcert parameter in the URL takes precedence.
	databaseCAEnv  = "PGSSLROOTCERT"
	databaseCAFile = "ca.crt"
)

// externalStorage returns the storage in a PostgreSQL database that the operator does not
// manage. It passes the URL and the CA bundle to the server.
func externalStorage(spec v1alpha1.ExternalStorage) Storage {
	storage := Storage{
		Kind:        StorageExternal,
		SecretNames: []string{spec.SecretRef.Name},
		env: []*coreapply.EnvVarApplyConfiguration{
			coreapply.EnvVar().WithName(databaseURLEnv).
				WithValueFrom(coreapply.EnvVarSource().WithSecretKeyRef(coreapply.SecretKeySelector().
					WithName(spec.SecretRef.Name).WithKey(cmp.Or(spec.SecretRef.Key, DatabaseURLKey)))),
		},
		database: &database{networks: spec.CIDRs},
	}
	if spec.CARef != nil {
		storage.addCABundle(spec.CARef)
	}
	return storage
}

// addCABundle makes the server trust the CA bundle in a Secret or ConfigMap.
func (s *Storage) addCABundle(reference *v1alpha1.CABundleReference) {
	if reference.Kind != "ConfigMap" {
		s.SecretNames = append(s.SecretNames, reference.Name)
	}
	s.env = append(s.env, coreapply.EnvVar().WithName(databaseCAEnv).
		WithValue(databaseCADirectory+"/"+databaseCAFile))
	s.mounts = append(s.mounts, mount{databaseCAVolume(reference), databaseCADirectory, true})
}

// databaseCAVolume returns a volume with the CA bundle of an external database under a
// fixed file name.
func databaseCAVolume(reference *v1alpha1.CABundleReference) *coreapply.VolumeApplyConfiguration {
	volume := coreapply.Volume().WithName("database-ca")
	file := coreapply.KeyToPath().WithKey(cmp.Or(reference.Key, DatabaseCAKey)).WithPath(databaseCAFile)
	if reference.Kind == "ConfigMap" {
		return volume.WithConfigMap(coreapply.ConfigMapVolumeSource().WithName(reference.Name).WithItems(file))
	}
	return volume.WithSecret(coreapply.SecretVolumeSource().WithSecretName(reference.Name).WithItems(file).WithDefaultMode(secretMode))
}
