// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
	"github.com/anamnesis-dev/anamnesis/controllers/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/ssa"
)

// planRollout decides which pod template the Deployment should have: the template from
// the spec or, if that template failed, the last ready template.
func (s *scope) planRollout(ctx context.Context) error {
	hash, err := ssa.Hash(resources.BuildDeployment(s.input).Spec.Template)
	if err != nil {
		return err
	}
	s.input.TemplateHash = hash
	deployment := s.Objects.Deployment()
	facts := rollout.Facts{
		Now:        s.StartedAt,
		Desired:    hash,
		Generation: s.Instance.Generation,
		Server:     s.input.Server,
		Retry:      s.Instance.Annotations[v1alpha1.RetryAnnotation],
		Disruptive: resources.StorageFor(s.Instance).SingleWriter,
		Deadline:   resources.RolloutDeadline(s.Instance),
		Live:       rollout.TemplateHash(deployment),
		Status:     s.Instance.Status.Rollout,
	}
	facts.State, _ = rollout.DeploymentState(deployment, facts.Status.LastReadyTemplateHash)
	if deployment != nil {
		facts.Replicas = ptr.Deref(deployment.Spec.Replicas, 1)
	}
	if facts.Diagnosis, err = s.diagnosePods(ctx, facts.State); err != nil {
		return err
	}
	s.rolloutPlan = rollout.Decide(facts)
	s.Instance.Status.Rollout = s.rolloutPlan.Status
	if !s.rolloutPlan.RequeueAt.IsZero() {
		s.RequeueAt(s.rolloutPlan.RequeueAt)
	}
	return nil
}

// diagnosePods returns why the Deployment's pods are not ready, if they are not. It
// reads pods from the API server, at most once per reconcile.
func (s *scope) diagnosePods(ctx context.Context, state rollout.State) (rollout.Diagnosis, error) {
	if state == rollout.Absent || state == rollout.Complete {
		return rollout.Diagnosis{}, nil
	}
	if s.diagnosis != nil {
		return *s.diagnosis, nil
	}
	pods, err := s.ListPods(ctx, resources.Selector(s.Instance))
	if err != nil {
		return rollout.Diagnosis{}, err
	}
	deployment := s.Objects.Deployment()
	diagnosis := rollout.Diagnose(rollout.Findings{
		Pods:            rollout.FilterPods(pods, rollout.TemplateHash(deployment)),
		CreationFailure: rollout.CreationFailure(deployment),
		VolumePending:   s.volumePending,
		Embedded:        resources.StorageFor(s.Instance).SingleWriter,
		Now:             s.StartedAt,
	})
	s.diagnosis = &diagnosis
	return diagnosis, nil
}

// applyDeployment applies the Deployment of the server. While the desired template
// cannot be determined, existing pods stay as they are and no first pod starts.
func (s *scope) applyDeployment(ctx context.Context) (err error) {
	if s.input.AppliedSpec, err = encodeSpec(s.Instance.Spec); err != nil {
		return err
	}
	saved := rollout.SavedState{Server: s.Instance.Status.Server, RolloutStatus: s.Instance.Status.Rollout}
	if s.input.Rollout, err = saved.Encode(); err != nil {
		return err
	}
	live := s.Objects.Deployment()
	switch {
	case live == nil && !s.isSatisfied(podTemplate, credentials, signingKeys, certificate, configuration):
		return nil
	case !s.isSatisfied(podTemplate), live != nil && s.input.Server.Revision > resources.Revision:
		// In the second case, a newer operator pinned the server before it was downgraded. This
		// operator cannot build that revision, and the server rollout moves Instances one by
		// one.
		return s.applyWithLiveTemplate(ctx, live)
	}
	if s.rolloutPlan.RollBack {
		return s.rollBack(ctx, live)
	}
	return s.writeDeployment(ctx, resources.BuildDeployment(s.input))
}

// rollBack restores the last ready template. If that template no longer exists, existing
// pods stay as they are.
func (s *scope) rollBack(ctx context.Context, live *appsv1.Deployment) error {
	restored, err := s.lastReadyTemplate(ctx)
	if err != nil {
		return err
	}
	if restored != nil {
		deployment := resources.BuildDeployment(s.input)
		deployment.Spec.Template = restored
		return s.writeDeployment(ctx, deployment)
	}
	if err := s.applyWithLiveTemplate(ctx, live); err != nil || rollout.TemplateHash(live) == s.rolloutPlan.Status.LastReadyTemplateHash {
		return err
	}
	return problem.Stalled("", rollout.ReasonFailed,
		"the pods did not become ready in time, and the ReplicaSet to roll back to no longer exists: change the spec")
}

// applyWithLiveTemplate applies the Deployment but keeps the last applied pod template
// and the annotations that describe it.
func (s *scope) applyWithLiveTemplate(ctx context.Context, live *appsv1.Deployment) error {
	applied, err := s.lastAppliedDeployment(ctx, live)
	if err != nil {
		return err
	}
	in := s.input
	in.Models = resources.ParseModels(live.Annotations[resources.ModelsAnnotation])
	in.PreflightHash = live.Annotations[resources.PreflightHashAnnotation]
	deployment := resources.BuildDeployment(in)
	deployment.Spec.Template = applied.Spec.Template
	return s.writeDeployment(ctx, deployment)
}

// lastAppliedDeployment returns the Deployment fields that the operator last applied.
// The cache strips managed fields, so it reads from the API server.
func (s *scope) lastAppliedDeployment(ctx context.Context, live *appsv1.Deployment) (*appsapply.DeploymentApplyConfiguration, error) {
	current := &appsv1.Deployment{}
	if err := s.APIReader.Get(ctx, client.ObjectKeyFromObject(live), current); err != nil {
		return nil, fmt.Errorf("reading Deployment %s: %w", live.Name, err)
	}
	applied, err := appsapply.ExtractDeployment(current, s.Applier.FieldManager)
	if err != nil {
		return nil, fmt.Errorf("reading the applied configuration of Deployment %s: %w", live.Name, err)
	}
	if applied.Spec == nil || applied.Spec.Template == nil {
		return nil, problem.Stalled("", rollout.ReasonFailed,
			"another field manager took over the pod template of Deployment %s: fix the other problems, and the operator applies it again", live.Name)
	}
	return applied, nil
}

func (s *scope) writeDeployment(ctx context.Context, deployment *appsapply.DeploymentApplyConfiguration) error {
	s.Instance.Status.Models = resources.ParseModels(deployment.Spec.Template.Annotations[resources.ModelsAnnotation])
	s.Instance.Status.ModelIDs = modelIDs(s.Instance.Status.Models)
	if err := s.apply(ctx, "", deployment); err != nil {
		return err
	}
	changed := s.Objects.Changed(inventory.Key{Kind: inventory.KindDeployment, Name: resources.ServerName(s.Instance)})
	s.podsRestarting = changed && !isAnnotationOnlyChange(s.Objects.Deployment(), deployment)
	return nil
}

// isAnnotationOnlyChange reports whether a write changed only the Deployment's
// annotations and therefore leaves its pods alone.
func isAnnotationOnlyChange(live *appsv1.Deployment, written *appsapply.DeploymentApplyConfiguration) bool {
	if live == nil {
		return false
	}
	annotationsChanged := false
	for key, value := range written.Annotations {
		annotationsChanged = annotationsChanged || live.Annotations[key] != value
	}
	replicas := ptr.Deref(live.Spec.Replicas, 1)
	return annotationsChanged && ptr.Deref(written.Spec.Replicas, replicas) == replicas &&
		rollout.TemplateHash(live) == written.Spec.Template.Annotations[resources.TemplateHashAnnotation]
}

// lastReadyTemplate returns the last ready template from its ReplicaSet in the
// Deployment's history, or nil if that ReplicaSet no longer exists.
func (s *scope) lastReadyTemplate(ctx context.Context) (*coreapply.PodTemplateSpecApplyConfiguration, error) {
	hash := s.rolloutPlan.Status.LastReadyTemplateHash
	var sets appsv1.ReplicaSetList
	err := s.APIReader.List(ctx, &sets, client.InNamespace(s.Instance.Namespace), client.MatchingLabels(resources.Selector(s.Instance)))
	if err != nil {
		return nil, fmt.Errorf("listing ReplicaSets: %w", err)
	}
	set := rollout.FindReplicaSet(s.Objects.Deployment(), sets.Items, hash)
	if set == nil {
		return nil, nil
	}
	return rollout.ToApplyConfiguration(set.Spec.Template)
}

// awaitRollout returns the problem that keeps the pods from matching the desired state,
// or nil.
func (s *scope) awaitRollout(ctx context.Context) error {
	name := client.ObjectKeyFromObject(s.Instance)
	if s.podsRestarting {
		s.setStorageCondition(rollout.Progressing, rollout.Diagnosis{})
		return rollout.CheckProgress(name, s.rolloutPlan, rollout.Progressing, "the Deployment was just changed", "", s.volumePending)
	}
	state, message := rollout.DeploymentState(s.Objects.Deployment(), s.Instance.Status.Rollout.LastReadyTemplateHash)
	diagnosis, err := s.diagnosePods(ctx, state)
	if err != nil {
		return err
	}
	s.setStorageCondition(state, diagnosis)
	return rollout.CheckProgress(name, s.rolloutPlan, state, message, diagnosis.Message, s.volumePending)
}
