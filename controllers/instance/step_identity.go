// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// pinServer settles which build of the server this Instance runs: the one that
// it has, until the wave lets it move to the one that is to become everybody's.
func (v *visit) pinServer(context.Context) error {
	status := &v.instance.Status
	if status.Server == (v1alpha1.ServerPin{}) || v.wave.isGranted(v.instance.UID) {
		status.Server = v.target
	}
	v.input.Server = status.Server
	return nil
}

// applyAddress gives the Instance a name that clients find it by, and its pods
// an identity and a configuration.
func (v *visit) applyAddress(ctx context.Context) error {
	objects := []resources.Object{
		resources.BuildServiceAccount(v.input),
		resources.BuildConfigMap(v.input),
		resources.BuildService(v.input),
	}
	objects = resources.Append(objects, resources.BuildPodDisruptionBudget(v.input))
	for _, object := range objects {
		if err := v.put(ctx, "", object); err != nil {
			return err
		}
	}
	v.instance.Status.URL = resources.URL(v.instance)
	return nil
}

// applyNetwork says who may talk to the pods and to whom they may talk, which
// depends on where the database is.
func (v *visit) applyNetwork(ctx context.Context) error {
	return v.put(ctx, "", resources.BuildNetworkPolicy(v.input))
}

// prune deletes what an earlier spec wanted and this one does not.
func (v *visit) prune(ctx context.Context) error {
	for _, key := range unwanted(v.children, v.wanted) {
		if err := v.delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
