// SPDX-License-Identifier: Apache-2.0

package resources

import (
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Storage defines how an Instance's kind of storage affects its other objects. Each kind
// has a file of its own.
type Storage struct {
	// Kind is the kind of storage, as shown by kubectl get: one of the constants below, or
	// empty if the spec selects none.
	Kind string
	// SingleWriter reports whether only one pod may use the data at a time, so that a pod must
	// stop before the next pod starts.
	SingleWriter bool
	// SecretNames are the Secrets that the spec references for the storage.
	SecretNames []string

	// args, env and mounts are added to the server's container.
	args   []string
	env    []*coreapply.EnvVarApplyConfiguration
	mounts []mount
	// database is the database that pods reach over the network. It is nil for data on a
	// volume.
	database *database
}

// The kinds of storage.
const (
	StorageEmbedded = "Embedded"
	StorageExternal = "External"
)

// A database describes an external database by its networks. If empty, pods may reach the
// database anywhere.
type database struct{ networks []v1alpha1.CIDR }

// StorageFor returns the storage of an Instance. It is the only place that distinguishes
// the kinds; all other code uses the fields of Storage.
func StorageFor(instance *v1alpha1.Instance) Storage {
	switch spec := instance.Spec.Storage; {
	case spec.Embedded != nil:
		return embeddedStorage(instance)
	case spec.External != nil:
		return externalStorage(*spec.External)
	}
	return Storage{}
}
