// SPDX-License-Identifier: Apache-2.0

package resources

import (
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// Storage is what an Instance's kind of storage means for everything that is not
// about that kind. Each kind says so in a file of its own.
type Storage struct {
	// Kind is its name, as kubectl get shows it: one of the constants below, or
	// empty for a spec that names none.
	Kind string
	// SingleWriter says that the data has room for one pod at a time, which ends
	// before the next one starts.
	SingleWriter bool
	// Secrets that the spec refers to for it.
	Secrets []string

	// arguments, variables and mounts are those of the server's container.
	arguments []string
	variables []*coreapply.EnvVarApplyConfiguration
	mounts    []mount
	// database is what pods reach over the network; nil for data on a volume.
	database *database
}

// The kinds of storage.
const (
	StorageEmbedded = "Embedded"
	StorageExternal = "External"
)

// A database is where pods reach it: in these networks, or anywhere if there are
// none.
type database struct{ networks []v1alpha1.CIDR }

// StorageOf tells kinds of storage apart. It is the only place that does: all
// else asks what a kind means, or for its name.
func StorageOf(instance *v1alpha1.Instance) Storage {
	switch kind := instance.Spec.Storage; {
	case kind.Embedded != nil:
		return embeddedStorage(instance)
	case kind.External != nil:
		return externalStorage(*kind.External)
	}
	return Storage{}
}
