// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"cmp"
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/controllers/apply"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/pods"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/problem"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/status"
)

// planRollout decides which pod template the Deployment is to have: the one that
// the spec asks for, or, when that one failed, the last that was ready.
func (v *Visit) planRollout(ctx context.Context) error {
	wish, err := apply.Hash(resources.BuildDeployment(v.input).Spec.Template)
	if err != nil {
		return err
	}
	v.input.TemplateHash = wish
	deployment := v.Children.Deployment()
	facts := rollout.Facts{
		Wish:       wish,
		Generation: v.Instance.Generation,
		Server:     v.input.Server,
		Live:       rollout.TemplateHash(deployment),
		Memory:     v.Instance.Status.Rollout,
	}
	facts.State, _ = rollout.Judge(deployment)
	if deployment != nil {
		facts.Pods = ptr.Deref(deployment.Spec.Replicas, 1)
	}
	v.template = rollout.Decide(facts)
	if err := v.explainFailure(ctx); err != nil {
		return err
	}
	v.Instance.Status.Rollout = v.template.Memory
	return nil
}

// explainFailure notes what kept the pods of a template from becoming ready,
// while they are still there.
func (v *Visit) explainFailure(ctx context.Context) error {
	if !v.template.Failed || v.Instance.Status.Rollout.Failed == v.template.Wish {
		return nil
	}
	trouble, err := v.podTrouble(ctx)
	v.template.Memory.FailedBecause = trouble
	return err
}

// stopPods ends the pods of an Instance that hibernates before anything else is
// asked of its spec: what is wrong with that must not keep them running. All
// else of the Deployment stays until the steps that follow come to it.
func (v *Visit) stopPods(ctx context.Context) error {
	live := v.Children.Deployment()
	if !v.Instance.Spec.Hibernate || live == nil || ptr.Deref(live.Spec.Replicas, 1) == 0 {
		return nil
	}
	in := v.input
	in.Models = resources.ParseModels(live.Annotations[resources.ModelsAnnotation])
	in.PreflightHash = live.Annotations[resources.PreflightHashAnnotation]
	kept, err := rollout.TemplateToApply(live.Spec.Template)
	if err != nil {
		return err
	}
	deployment := resources.BuildDeployment(in)
	deployment.Spec.Template = kept
	return v.put(ctx, "", deployment)
}

// applyDeployment runs the server.
func (v *Visit) applyDeployment(ctx context.Context) error {
	deployment := resources.BuildDeployment(v.input)
	if v.template.PutBack {
		restored, err := v.lastReadyTemplate(ctx)
		if err != nil {
			return err
		}
		deployment.Spec.Template = restored
	}
	v.Instance.Status.Models = resources.ParseModels(deployment.Spec.Template.Annotations[resources.ModelsAnnotation])
	v.Instance.Status.ModelIDs = status.ModelIDs(v.Instance.Status.Models)
	return v.put(ctx, "", deployment)
}

// lastReadyTemplate gives the template that was ready last, from the ReplicaSet
// that the Deployment's history keeps of it.
func (v *Visit) lastReadyTemplate(ctx context.Context) (*coreapply.PodTemplateSpecApplyConfiguration, error) {
	hash := v.template.Memory.LastReady
	var sets appsv1.ReplicaSetList
	err := v.Live.List(ctx, &sets, client.InNamespace(v.Instance.Namespace), client.MatchingLabels(resources.Selector(v.Instance)))
	if err != nil {
		return nil, fmt.Errorf("listing replica sets: %w", err)
	}
	found := rollout.ReplicaSetOf(v.Children.Deployment(), sets.Items, hash)
	if found == nil {
		return nil, problem.Stalled("", rollout.ReasonFailed,
			"the pods did not become ready within %s, and the replica set of those that did is gone: change the spec", resources.ProgressDeadline)
	}
	return rollout.TemplateToApply(found.Spec.Template)
}

// awaitRollout says whether the pods are as wanted by now, and if not, why.
func (v *Visit) awaitRollout(ctx context.Context) error {
	state, message := rollout.Judge(v.Children.Deployment())
	if v.Children.Changed(children.Key{Kind: children.KindDeployment, Name: resources.ServerName(v.Instance)}) {
		state, message = rollout.Progressing, "the Deployment was just changed"
	}
	trouble := ""
	if state != rollout.Settled {
		var err error
		if trouble, err = v.podTrouble(ctx); err != nil {
			return err
		}
	}
	return rollout.JudgeProgress(v.template, state, message, trouble, v.volume)
}

// podTrouble says what keeps the pods that serve from running, if anything.
func (v *Visit) podTrouble(ctx context.Context) (string, error) {
	found, err := v.Pods(ctx, resources.Selector(v.Instance))
	return cmp.Or(pods.Describe(found), rollout.CreationTrouble(v.Children.Deployment())), err
}
