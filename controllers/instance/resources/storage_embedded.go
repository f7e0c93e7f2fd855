// SPDX-License-Identifier: Apache-2.0

package resources

import "github.com/anamnesis-dev/anamnesis/api/v1alpha1"

// embeddedStorage returns the storage in a database file on the Instance's own volume.
func embeddedStorage(instance *v1alpha1.Instance) Storage {
	return Storage{
		Kind:         StorageEmbedded,
		SingleWriter: true,
		args:         []string{"--data-dir=" + dataDirectory},
		mounts:       []mount{{claimVolume("data", DataClaimName(instance)), dataDirectory, false}},
	}
}
