// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
)

// pinServer pins the server build that the server rollout selects for this Instance,
// using the state saved on the Deployment. If the build changes, pinServer removes the
// ServerCurrent condition, which describes the previous build, and the Reconciling
// condition, whose transition time tells the server rollout how long the update takes.
func (s *scope) pinServer(ctx context.Context) error {
	status := &s.Instance.Status
	saved, err := rollout.LoadState(s.Objects.Deployment(), *status)
	if err != nil {
		log.FromContext(ctx).Error(err, "failed to read the saved rollout state; using the status instead")
	}
	status.Server, status.Rollout = saved.Server, saved.RolloutStatus
	decision, err := s.ServerRollout.Decide(ctx, s.Instance)
	if err != nil {
		return err
	}
	if status.Server != decision.Server {
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionReconciling)
		meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionServerCurrent)
	}
	status.Server, s.input.Server = decision.Server, decision.Server
	return nil
}

// SetServerCondition reports in the ServerCurrent condition whether the Instance runs
// the target server build at the end of the reconcile. If the build cannot be determined,
// pinServer has already reported the failure.
func (s *scope) SetServerCondition(ctx context.Context) {
	if !s.Instance.DeletionTimestamp.IsZero() {
		return
	}
	if decision, err := s.ServerRollout.Decide(ctx, s.Instance); err == nil {
		s.setCondition(v1alpha1.ConditionServerCurrent, decision.Status, string(decision.Reason), "%s", decision.Message)
	}
}

// applyBaseObjects applies the Service, the service account, the configuration and the
// disruption budget.
func (s *scope) applyBaseObjects(ctx context.Context) error {
	objects := []resources.Object{
		resources.BuildServiceAccount(s.input),
		resources.BuildConfigMap(s.input),
		resources.BuildService(s.input),
	}
	objects = resources.AppendNonNil(objects, resources.BuildPodDisruptionBudget(s.input))
	s.Instance.Status.URL = resources.PublicURL(s.Instance)
	return forEach(objects, func(object resources.Object) error { return s.apply(ctx, "", object) })
}

// forEach calls do for every item, even after a failure, and returns the worst failure.
// It stops at a write conflict, because its input is then stale.
func forEach[T any](items []T, do func(T) error) error {
	var failures []error
	for _, item := range items {
		err := do(item)
		if problem.IsConflict(err) {
			return err
		}
		if err != nil {
			failures = append(failures, err)
		}
	}
	return problem.Worst(failures)
}

// prune deletes owned objects that are no longer desired.
func (s *scope) prune(ctx context.Context) error {
	for _, key := range s.Objects.Prunable() {
		if s.mayBeDesired(key) {
			continue
		}
		if err := s.Objects.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
