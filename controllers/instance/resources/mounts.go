// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

// Where the server finds its files. The release files are part of its image;
// the others are mounted.
const (
	modelsDirectory        = "/models"
	tlsDirectory           = "/etc/anamnesis/tls"
	credentialsDirectory   = "/etc/anamnesis/credentials"
	signingKeysDirectory   = "/etc/anamnesis/signing-keys"
	configDirectory        = "/etc/anamnesis/config"
	keysetsDirectory       = "/etc/anamnesis/keysets"
	notificationsDirectory = "/etc/anamnesis/notifications"
	dataDirectory          = "/var/lib/anamnesis"

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

func mounts(in Input) []mount {
	instance := in.Instance
	all := []mount{
		{secretVolume("tls", TLSName(instance)), tlsDirectory, true},
		{secretVolume("credentials", CredentialsName(instance)), credentialsDirectory, true},
		{secretVolume("signing-keys", SigningKeysName(instance)), signingKeysDirectory, true},
		{configVolume("config", ConfigName(instance)), configDirectory, true},
	}
	if in.has(encrypts) {
		all = append(all,
			mount{secretVolume(keysetsVolume, KeysetsName(instance)), keysetsDirectory, true},
			mount{optional(secretVolume("notifications", NotificationsName(instance))), notificationsDirectory, true})
	}
	return append(all, StorageOf(instance).mounts...)
}

// keysetsVolume is the name of the volume with the keysets, by which a pod
// template tells that its server has some.
const keysetsVolume = "keysets"

// HasKeysets says whether the pods of a template were given keysets.
func HasKeysets(template corev1.PodTemplateSpec) bool {
	return slices.ContainsFunc(template.Spec.Volumes, func(volume corev1.Volume) bool { return volume.Name == keysetsVolume })
}

// optional has pods start without the Secret of a volume, and get it once it is
// there.
func optional(volume *coreapply.VolumeApplyConfiguration) *coreapply.VolumeApplyConfiguration {
	volume.Secret.WithOptional(true)
	return volume
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
