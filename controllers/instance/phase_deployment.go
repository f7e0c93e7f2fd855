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

// planRollout decides which pod template the Deployment should have: the one from the
// spec or, if that one failed, the last ready one.
func (v *scope) planRollout(ctx context.Context) error {
	hash, err := ssa.Hash(resources.BuildDeployment(v.input).Spec.Template)
	if err != nil {
		return err
	}
	v.input.TemplateHash = hash
	deployment := v.Objects.Deployment()
	facts := rollout.Facts{
		Now:        v.StartedAt,
		Desired:    hash,
		Generation: v.Instance.Generation,
		Server:     v.input.Server,
		Retry:      v.Instance.Annotations[v1alpha1.RetryAnnotation],
		Disruptive: resources.StorageFor(v.Instance).SingleWriter,
		Deadline:   resources.RolloutDeadline(v.Instance),
		Live:       rollout.TemplateHash(deployment),
		Status:     v.Instance.Status.Rollout,
	}
	facts.State, _ = rollout.DeploymentState(deployment, facts.Status.LastReady)
	if deployment != nil {
		facts.Replicas = ptr.Deref(deployment.Spec.Replicas, 1)
	}
	if facts.Diagnosis, err = v.diagnosePods(ctx, facts.State); err != nil {
		return err
	}
	v.rolloutPlan = rollout.Decide(facts)
	v.Instance.Status.Rollout = v.rolloutPlan.Status
	if !v.rolloutPlan.RequeueAt.IsZero() {
		v.RequeueAt(v.rolloutPlan.RequeueAt)
	}
	return nil
}

// diagnosePods returns why the Deployment's pods are not ready, if they are not. It
// reads pods from the API server, at most once per reconcile.
func (v *scope) diagnosePods(ctx context.Context, state rollout.State) (rollout.Diagnosis, error) {
	if state == rollout.Absent || state == rollout.Complete {
		return rollout.Diagnosis{}, nil
	}
	if v.diagnosis != nil {
		return *v.diagnosis, nil
	}
	found, err := v.ListPods(ctx, resources.Selector(v.Instance))
	if err != nil {
		return rollout.Diagnosis{}, err
	}
	deployment := v.Objects.Deployment()
	trouble := rollout.Diagnose(rollout.Findings{
		Pods:            rollout.FilterPods(found, rollout.TemplateHash(deployment)),
		CreationFailure: rollout.CreationFailure(deployment),
		VolumePending:   v.volumePending,
		Embedded:        resources.StorageFor(v.Instance).SingleWriter,
		Now:             v.StartedAt,
	})
	v.diagnosis = &trouble
	return trouble, nil
}

// applyDeployment applies the Deployment of the server. While the desired template
// cannot be determined, existing pods stay as they are and no first pod starts.
func (v *scope) applyDeployment(ctx context.Context) (err error) {
	if v.input.AppliedSpec, err = encodeSpec(v.Instance.Spec); err != nil {
		return err
	}
	memory := rollout.SavedState{Server: v.Instance.Status.Server, RolloutStatus: v.Instance.Status.Rollout}
	if v.input.Rollout, err = memory.Encode(); err != nil {
		return err
	}
	live := v.Objects.Deployment()
	switch {
	case live == nil && !v.isSatisfied(podTemplate, credentials, signingKeys, certificate, configuration):
		return nil
	case !v.isSatisfied(podTemplate), live != nil && v.input.Server.Revision > resources.Revision:
		// In the second case, a newer operator pinned the server and was rolled back since: this
		// operator cannot build that revision, and the server rollout moves Instances one by
		// one.
		return v.applyWithLiveTemplate(ctx, live)
	}
	if v.rolloutPlan.RollBack {
		return v.rollBack(ctx, live)
	}
	return v.writeDeployment(ctx, resources.BuildDeployment(v.input))
}

// rollBack restores the last ready template. If that template no longer exists, existing
// pods stay as they are.
func (v *scope) rollBack(ctx context.Context, live *appsv1.Deployment) error {
	restored, err := v.lastReadyTemplate(ctx)
	if err != nil {
		return err
	}
	if restored != nil {
		deployment := resources.BuildDeployment(v.input)
		deployment.Spec.Template = restored
		return v.writeDeployment(ctx, deployment)
	}
	if err := v.applyWithLiveTemplate(ctx, live); err != nil || rollout.TemplateHash(live) == v.rolloutPlan.Status.LastReady {
		return err
	}
	return problem.Stalled("", rollout.ReasonFailed,
		"the pods did not become ready in time, and the ReplicaSet to roll back to is gone: change the spec")
}

// applyWithLiveTemplate applies the Deployment but keeps the fields that are decided
// together with the pod template as last applied.
func (v *scope) applyWithLiveTemplate(ctx context.Context, live *appsv1.Deployment) error {
	sent, err := v.lastAppliedDeployment(ctx, live)
	if err != nil {
		return err
	}
	in := v.input
	in.Models = resources.ParseModels(live.Annotations[resources.ModelsAnnotation])
	in.PreflightHash = live.Annotations[resources.PreflightHashAnnotation]
	deployment := resources.BuildDeployment(in)
	deployment.Spec.Template = sent.Spec.Template
	return v.writeDeployment(ctx, deployment)
}

// lastAppliedDeployment returns the Deployment fields that the operator last applied.
// The cache strips managed fields, so it reads from the API server.
func (v *scope) lastAppliedDeployment(ctx context.Context, live *appsv1.Deployment) (*appsapply.DeploymentApplyConfiguration, error) {
	found := &appsv1.Deployment{}
	if err := v.APIReader.Get(ctx, client.ObjectKeyFromObject(live), found); err != nil {
		return nil, fmt.Errorf("reading Deployment %s: %w", live.Name, err)
	}
	sent, err := appsapply.ExtractDeployment(found, v.Applier.FieldManager)
	if err != nil {
		return nil, fmt.Errorf("reading the applied configuration of Deployment %s: %w", live.Name, err)
	}
	if sent.Spec == nil || sent.Spec.Template == nil {
		return nil, problem.Stalled("", rollout.ReasonFailed,
			"another field manager took over the pod template of Deployment %s: fix the other problems, and the operator applies it again", live.Name)
	}
	return sent, nil
}

func (v *scope) writeDeployment(ctx context.Context, deployment *appsapply.DeploymentApplyConfiguration) error {
	v.Instance.Status.Models = resources.ParseModels(deployment.Spec.Template.Annotations[resources.ModelsAnnotation])
	v.Instance.Status.ModelIDs = modelIDs(v.Instance.Status.Models)
	if err := v.apply(ctx, "", deployment); err != nil {
		return err
	}
	written := v.Objects.Changed(inventory.Key{Kind: inventory.KindDeployment, Name: resources.ServerName(v.Instance)})
	v.podsRestarting = written && !isAnnotationOnlyChange(v.Objects.Deployment(), deployment)
	return nil
}

// isAnnotationOnlyChange reports whether a write changed only the Deployment's
// annotations and therefore leaves its pods alone.
func isAnnotationOnlyChange(live *appsv1.Deployment, written *appsapply.DeploymentApplyConfiguration) bool {
	if live == nil {
		return false
	}
	noted := false
	for key, value := range written.Annotations {
		noted = noted || live.Annotations[key] != value
	}
	had := ptr.Deref(live.Spec.Replicas, 1)
	return noted && ptr.Deref(written.Spec.Replicas, had) == had &&
		rollout.TemplateHash(live) == written.Spec.Template.Annotations[resources.TemplateHashAnnotation]
}

// lastReadyTemplate returns the last ready template from its ReplicaSet in the
// Deployment's history, or nil if that ReplicaSet no longer exists.
func (v *scope) lastReadyTemplate(ctx context.Context) (*coreapply.PodTemplateSpecApplyConfiguration, error) {
	hash := v.rolloutPlan.Status.LastReady
	var sets appsv1.ReplicaSetList
	err := v.APIReader.List(ctx, &sets, client.InNamespace(v.Instance.Namespace), client.MatchingLabels(resources.Selector(v.Instance)))
	if err != nil {
		return nil, fmt.Errorf("listing ReplicaSets: %w", err)
	}
	found := rollout.FindReplicaSet(v.Objects.Deployment(), sets.Items, hash)
	if found == nil {
		return nil, nil
	}
	return rollout.ToApplyConfiguration(found.Spec.Template)
}

// awaitRollout returns the problem that keeps the pods from matching the desired state,
// or nil.
func (v *scope) awaitRollout(ctx context.Context) error {
	name := client.ObjectKeyFromObject(v.Instance)
	if v.podsRestarting {
		v.setStorageCondition(rollout.Progressing, rollout.Diagnosis{})
		return rollout.CheckProgress(name, v.rolloutPlan, rollout.Progressing, "the Deployment was just changed", "", v.volumePending)
	}
	state, message := rollout.DeploymentState(v.Objects.Deployment(), v.Instance.Status.Rollout.LastReady)
	trouble, err := v.diagnosePods(ctx, state)
	if err != nil {
		return err
	}
	v.setStorageCondition(state, trouble)
	return rollout.CheckProgress(name, v.rolloutPlan, state, message, trouble.Message, v.volumePending)
}
