// SPDX-License-Identifier: Apache-2.0

// Package storage provisions the storage of an Instance's data.
//
// Each Backend implements one kind of storage, in a file of its own. resources.Storage
// selects the kind and defines how it affects the Instance's other objects.
package storage

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/cluster"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// A Backend is one way to store an Instance's data.
type Backend interface {
	// Prepare creates the storage, or locates storage that is managed elsewhere. For a
	// suspended Instance, it creates nothing. Its problems are reported in the StorageReady
	// condition.
	Prepare(ctx context.Context, scope Scope) (Status, error)
	// Release keeps or deletes the data of a deleted Instance, depending on its deletion
	// policy. The Instance's pods have already terminated.
	Release(ctx context.Context, scope Scope) error
}

var backends = map[string]Backend{
	resources.StorageEmbedded: embedded{},
	resources.StorageExternal: external{},
}

// ForInstance returns the backend that an Instance's spec selects, or nil.
func ForInstance(instance *v1alpha1.Instance) Backend {
	return backends[resources.StorageFor(instance).Kind]
}

// A Scope holds the inputs of a Backend.
type Scope struct {
	cluster.Reader
	Instance *v1alpha1.Instance
	Objects  *inventory.Set
	// Input is the builders' input, which may be incomplete.
	Input resources.Input
	// Now is when the reconcile began.
	Now time.Time
	// NormalEventf records a normal event for the Instance.
	NormalEventf func(reason, format string, arguments ...any)
}

// A Status describes the storage that the pods use.
type Status struct {
	// Reason and Message are reported in StorageReady if the storage is ready.
	Reason, Message string
	// Pending explains why the volume is not bound yet. Pods may start anyway, because some
	// volumes are provisioned only once a pod uses them. It is nil if the storage is ready.
	Pending *problem.Error
	// DatabasePorts and DatabaseChecksum are the fields of the same name in resources.Input.
	DatabasePorts    []int32
	DatabaseChecksum string
}

// isOwnedBy reports whether the UID label of an object identifies the given Instance.
func isOwnedBy(labels map[string]string, uid types.UID) bool {
	return labels[v1alpha1.InstanceUIDLabel] == string(uid)
}
