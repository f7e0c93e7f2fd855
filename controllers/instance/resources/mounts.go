// SPDX-License-Identifier: Apache-2.0

package resources

import (
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Where the server finds its files. The release files are part of its image;
// the others are mounted.
const (
	modelsDirectory      = "/models"
	tlsDirectory         = "/etc/anamnesis/tls"
	credentialsDirectory = "/etc/anamnesis/credentials"
	signingKeysDirectory = "/etc/anamnesis/signing-keys"
	configDirectory      = "/etc/anamnesis/config"
	dataDirectory        = "/var/lib/anamnesis"

	databaseAuthorityDirectory = "/etc/anamnesis/database-ca"

	configFileName = "config.yaml"
)

// secretMode lets the group of the pod read a mounted Secret, and nobody else.
const secretMode = 0o440

// A mount is a volume and where the server finds it.
type mount struct {
	volume   *coreapply.VolumeApplyConfiguration
	path     string
	readOnly bool
}

// inContainer leaves readOnly out where it is false, as the API does.
func (m mount) inContainer() *coreapply.VolumeMountApplyConfiguration {
	mounted := coreapply.VolumeMount().WithName(*m.volume.Name).WithMountPath(m.path)
	if m.readOnly {
		mounted.WithReadOnly(true)
	}
	return mounted
}

func mounts(instance *v1alpha1.Instance) []mount {
	return append([]mount{
		{secretVolume("tls", TLSName(instance)), tlsDirectory, true},
		{secretVolume("credentials", CredentialsName(instance)), credentialsDirectory, true},
		{secretVolume("signing-keys", SigningKeysName(instance)), signingKeysDirectory, true},
		{configVolume("config", ConfigName(instance)), configDirectory, true},
	}, StorageOf(instance).mounts...)
}

func secretVolume(name, secret string) *coreapply.VolumeApplyConfiguration {
	return coreapply.Volume().WithName(name).
		WithSecret(coreapply.SecretVolumeSource().WithSecretName(secret).WithDefaultMode(secretMode))
}

func configVolume(name, configMap string) *coreapply.VolumeApplyConfiguration {
	return coreapply.Volume().WithName(name).
		WithConfigMap(coreapply.ConfigMapVolumeSource().WithName(configMap))
}

func claimVolume(name, claim string) *coreapply.VolumeApplyConfiguration {
	return coreapply.Volume().WithName(name).
		WithPersistentVolumeClaim(coreapply.PersistentVolumeClaimVolumeSource().WithClaimName(claim))
}
