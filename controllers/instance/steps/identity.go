// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
)

// pinServer settles which build of the server this Instance runs, as the wave
// decides by what is remembered with the Deployment. With another one the
// operator's work on it begins anew, by which the wave knows how long it takes,
// and what was said of the one before is over.
func (v *Visit) pinServer(ctx context.Context) error {
	status := &v.Instance.Status
	memory, err := rollout.Recall(v.Children.Deployment(), *status)
	if err != nil {
		log.FromContext(ctx).Error(err, "going by the status instead")
	}
	status.Server, status.Rollout = memory.Server, memory.Rollout
	decision, err := v.Wave.Decide(ctx, v.Instance)
	if err != nil {
		return err
	}
	if status.Server != decision.Server {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionReconciling)
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionServerCurrent)
	}
	status.Server, v.input.Server = decision.Server, decision.Server
	return nil
}

// TellServer says in the condition ServerCurrent how the Instance stands to the
// build that all are to have, as it is known at the end of the visit. Where that
// cannot be known, no server could be pinned either, and that was told.
func (v *Visit) TellServer(ctx context.Context) {
	if !v.Instance.DeletionTimestamp.IsZero() {
		return
	}
	if decision, err := v.Wave.Decide(ctx, v.Instance); err == nil {
		v.mark(v1alpha1.ConditionServerCurrent, decision.Status, string(decision.Reason), "%s", decision.Message)
	}
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
	v.Instance.Status.URL = resources.PublicURL(v.Instance)
	return eachOf(objects, func(object resources.Object) error { return v.put(ctx, "", object) })
}

// eachOf does something with all of some things, also when it fails with one, and
// gives the worst failure; but a race ends it, since the rest would be decided by
// what is no longer so.
func eachOf[T any](all []T, do func(T) error) error {
	var failures []error
	for _, one := range all {
		err := do(one)
		if problem.IsRace(err) {
			return err
		}
		if err != nil {
			failures = append(failures, err)
		}
	}
	return problem.Worst(failures)
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
