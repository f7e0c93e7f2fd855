// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
)

// pinServer settles which build of the server this Instance runs: the one that
// it has, until the wave lets it move to the one that is to become everybody's.
// What the status says of that, and of rollouts, is what is remembered with the
// Deployment.
func (v *Visit) pinServer(ctx context.Context) error {
	status := &v.Instance.Status
	memory, err := rollout.Recall(v.Children.Deployment(), *status)
	if err != nil {
		log.FromContext(ctx).Error(err, "going by the status instead")
	}
	status.Server, status.Rollout = memory.Server, memory.Rollout
	if status.Server == (v1alpha1.ServerPin{}) || v.Granted(v.Instance.UID) {
		status.Server = v.Target
	}
	v.input.Server = status.Server
	return nil
}

// applyAddress gives the Instance a name that clients find it by, and its pods
// an identity and a configuration.
func (v *Visit) applyAddress(ctx context.Context) error {
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
	v.Instance.Status.URL = resources.URL(v.Instance)
	return nil
}

// prune deletes what an earlier spec wanted and this one does not.
func (v *Visit) prune(ctx context.Context) error {
	for _, key := range v.Children.Unwanted() {
		if v.mayBeWanted(key) {
			continue
		}
		if err := v.Children.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
