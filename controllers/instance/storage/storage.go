// SPDX-License-Identifier: Apache-2.0

// Package storage gives the data of an Instance a place.
//
// A Kind is one way to do that, in a file of its own. What it means for the other
// objects of an Instance, resources.Storage says, which also tells kinds apart.
package storage

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/surroundings"
)

// A Kind is one way to keep an Instance's data.
type Kind interface {
	// Prepare gives the data a place, or finds the place that somebody else
	// made; of a suspended Instance it only finds it. A problem belongs to the
	// condition StorageReady.
	Prepare(ctx context.Context, on Ground) (Place, error)
	// Release does with the data what the spec says when the Instance goes. Its
	// pods have ended by then.
	Release(ctx context.Context, on Ground) error
}

var kinds = map[string]Kind{
	resources.StorageEmbedded: embedded{},
	resources.StorageExternal: external{},
}

// Of gives the kind that an Instance's spec names, or nil.
func Of(instance *v1alpha1.Instance) Kind { return kinds[resources.StorageOf(instance).Kind] }

// Ground is what a Kind works on.
type Ground struct {
	surroundings.Surroundings
	Instance *v1alpha1.Instance
	Children *children.Set
	// Input is what builders know so far.
	Input resources.Input
	// Now is when the visit began.
	Now time.Time
	// Announce writes a normal event about the Instance.
	Announce func(reason, format string, arguments ...any)
}

// A Place is where the data is, as far as pods depend on it.
type Place struct {
	// Reason and Message say in StorageReady that the place is there.
	Reason, Message string
	// Pending says why the data has no place yet although pods may be started,
	// because some volumes are only made for a pod; nil when it has one.
	Pending *problem.Problem
	// DatabasePorts and DatabaseChecksum are as resources.Input has them.
	DatabasePorts    []int32
	DatabaseChecksum string
}

// owned says whether a claim's label names an Instance.
func owned(labels map[string]string, uid types.UID) bool {
	return labels[v1alpha1.InstanceUIDLabel] == string(uid)
}
