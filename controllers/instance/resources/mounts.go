// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Paths of the server's files. The release files are part of the image; the others are
// mounted.
const (
	modelsDirectory        = "/models"
	tlsDirectory           = "/etc/anamnesis/tls"
	credentialsDirectory   = "/etc/anamnesis/credentials"
	signingKeysDirectory   = "/etc/anamnesis/signing-keys"
	configDirectory        = "/etc/anamnesis/config"
	keysetsDirectory       = "/etc/anamnesis/keysets"
	notificationsDirectory = "/etc/anamnesis/notifications"
	dataDirectory          = "/var/lib/anamnesis"

	databaseCADirectory = "/etc/anamnesis/database-ca"

	configFileName = "config.yaml"
)

// secretMode makes a mounted Secret readable by the pod's group only.
const secretMode = 0o440

// A mount is a volume and its mount path.
type mount struct {
	volume   *coreapply.VolumeApplyConfiguration
	path     string
	readOnly bool
}

// volumeMount returns the volume mount. Like the API server, it omits readOnly if false.
func (m mount) volumeMount() *coreapply.VolumeMountApplyConfiguration {
	volumeMount := coreapply.VolumeMount().WithName(*m.volume.Name).WithMountPath(m.path)
	if m.readOnly {
		volumeMount.WithReadOnly(true)
	}
	return volumeMount
}

func mounts(instance *v1alpha1.Instance) []mount {
	mounts := []mount{
		{secretVolume("tls", TLSSecretName(instance)), tlsDirectory, true},
		{secretVolume("credentials", CredentialsSecretName(instance)), credentialsDirectory, true},
		{secretVolume("signing-keys", SigningKeysSecretName(instance)), signingKeysDirectory, true},
		{configVolume("config", ConfigMapName(instance)), configDirectory, true},
		{secretVolume(keysetsVolume, KeysetsSecretName(instance)), keysetsDirectory, true},
		{makeOptional(secretVolume("notifications", NotificationsSecretName(instance))), notificationsDirectory, true},
	}
	return slices.Concat(mounts, StorageFor(instance).mounts)
}

// keysetsVolume is the name of the keysets volume. Its presence in a pod template shows
// that the server has keysets.
const keysetsVolume = "keysets"

// HasKeysets reports whether the pods of a template mount keysets.
func HasKeysets(template corev1.PodTemplateSpec) bool {
	return slices.ContainsFunc(template.Spec.Volumes, func(volume corev1.Volume) bool { return volume.Name == keysetsVolume })
}

// makeOptional marks the Secret of a volume as optional. Pods then start without the
// Secret, and the kubelet mounts it once it exists.
func makeOptional(volume *coreapply.VolumeApplyConfiguration) *coreapply.VolumeApplyConfiguration {
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
