// SPDX-License-Identifier: Apache-2.0

// Package storage provisions the storage of an Instance's data.
//
// Each Backend is one kind of storage, in a file of its own. How the kind of storage
// affects the Instance's other objects is defined by resources.Storage, which also
// selects the kind.
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
	// Prepare creates the storage, or finds storage that is managed elsewhere. For a
	// suspended Instance, it only finds it. Its problems are reported in the StorageReady
	// condition.
	Prepare(ctx context.Context, scope Scope) (Status, error)
	// Release keeps or deletes the data as the spec requires when the Instance is deleted.
	// The Instance's pods have terminated by then.
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

// Scope holds what a Backend works on.
type Scope struct {
	cluster.Reader
	Instance *v1alpha1.Instance
	Objects  *inventory.Set
	// Input is the builders' input as far as it is known.
	Input resources.Input
	// Now is when the reconcile began.
	Now time.Time
	// NormalEventf records a normal event for the Instance.
	NormalEventf func(reason, format string, arguments ...any)
}

// A Status describes the storage as far as the pods depend on it.
type Status struct {
	// Reason and Message are reported in StorageReady if the storage is ready.
	Reason, Message string
	// Pending explains why the volume is not bound although pods may start, because some
	// volumes are only provisioned for a pod. It is nil if the storage is ready.
	Pending *problem.Error
	// DatabasePorts and DatabaseChecksum are the fields of the same name in resources.Input.
	DatabasePorts    []int32
	DatabaseChecksum string
}

// isOwnedBy reports whether an object's UID label names an Instance.
func isOwnedBy(labels map[string]string, uid types.UID) bool {
	return labels[v1alpha1.InstanceUIDLabel] == string(uid)
}
