// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/controllers/apply"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// planRollout decides which pod template the Deployment is to have: the one that
// the spec asks for, or, when that one failed, the last that was ready.
func (v *visit) planRollout(ctx context.Context) error {
	wish, err := apply.Hash(resources.BuildDeployment(v.input).Spec.Template)
	if err != nil {
		return err
	}
	v.input.TemplateHash = wish
	deployment := v.deployment()
	facts := rolloutFacts{
		wish:       wish,
		generation: v.instance.Generation,
		server:     v.input.Server,
		live:       templateHash(deployment),
		memory:     v.instance.Status.Rollout,
	}
	facts.state, _ = judgeRollout(deployment)
	if deployment != nil {
		facts.pods = ptr.Deref(deployment.Spec.Replicas, 1)
	}
	v.template = planTemplate(facts)
	if err := v.explainFailure(ctx); err != nil {
		return err
	}
	v.instance.Status.Rollout = v.template.memory
	return nil
}

// explainFailure notes what kept the pods of a template from becoming ready,
// while they are still there.
func (v *visit) explainFailure(ctx context.Context) error {
	if !v.template.failed || v.instance.Status.Rollout.Failed == v.template.wish {
		return nil
	}
	trouble, err := v.podTrouble(ctx)
	v.template.memory.FailedBecause = trouble
	return err
}

// stopPods ends the pods of an Instance that hibernates before anything else is
// asked of its spec: what is wrong with that must not keep them running. All
// else of the Deployment stays until the steps that follow come to it.
func (v *visit) stopPods(ctx context.Context) error {
	live := v.deployment()
	if !v.instance.Spec.Hibernate || live == nil || ptr.Deref(live.Spec.Replicas, 1) == 0 {
		return nil
	}
	in := v.input
	in.Models = resources.ParseModels(live.Annotations[resources.ModelsAnnotation])
	in.PreflightHash = live.Annotations[resources.PreflightHashAnnotation]
	kept, err := templateToApply(live.Spec.Template)
	if err != nil {
		return err
	}
	deployment := resources.BuildDeployment(in)
	deployment.Spec.Template = kept
	return v.put(ctx, "", deployment)
}

// applyDeployment runs the server.
func (v *visit) applyDeployment(ctx context.Context) error {
	deployment := resources.BuildDeployment(v.input)
	if v.template.putBack {
		restored, err := v.lastReadyTemplate(ctx)
		if err != nil {
			return err
		}
		deployment.Spec.Template = restored
	}
	v.instance.Status.Models = resources.ParseModels(deployment.Spec.Template.Annotations[resources.ModelsAnnotation])
	v.instance.Status.ModelIDs = modelIDs(v.instance.Status.Models)
	return v.put(ctx, "", deployment)
}

// lastReadyTemplate gives the template that was ready last, from the ReplicaSet
// that the Deployment's history keeps of it.
func (v *visit) lastReadyTemplate(ctx context.Context) (*coreapply.PodTemplateSpecApplyConfiguration, error) {
	hash := v.template.memory.LastReady
	var sets appsv1.ReplicaSetList
	err := v.live.List(ctx, &sets, client.InNamespace(v.instance.Namespace), client.MatchingLabels(resources.Selector(v.instance)))
	if err != nil {
		return nil, fmt.Errorf("listing replica sets: %w", err)
	}
	found := replicaSetOf(v.deployment(), sets.Items, hash)
	if found == nil {
		return nil, stalled("", reasonRolloutFailed,
			"the pods did not become ready within %s, and the replica set of those that did is gone: change the spec", resources.ProgressDeadline)
	}
	return templateToApply(found.Spec.Template)
}

// replicaSetOf gives the ReplicaSet that a Deployment made of a template, or
// nil. Where somebody changed the template by hand, which leaves its hash, there
// are several: the first one made is that of what the operator wrote.
func replicaSetOf(deployment *appsv1.Deployment, sets []appsv1.ReplicaSet, hash string) *appsv1.ReplicaSet {
	var first *appsv1.ReplicaSet
	for i := range sets {
		set := &sets[i]
		if set.Spec.Template.Annotations[resources.TemplateHashAnnotation] != hash || !metav1.IsControlledBy(set, deployment) {
			continue
		}
		if first == nil || set.CreationTimestamp.Before(&first.CreationTimestamp) {
			first = set
		}
	}
	return first
}

// templateToApply makes a ReplicaSet's template one for a Deployment again.
func templateToApply(live corev1.PodTemplateSpec) (*coreapply.PodTemplateSpecApplyConfiguration, error) {
	live = *live.DeepCopy()
	delete(live.Labels, appsv1.DefaultDeploymentUniqueLabelKey)
	encoded, err := json.Marshal(live)
	if err != nil {
		return nil, fmt.Errorf("encoding a pod template: %w", err)
	}
	restored := coreapply.PodTemplateSpec()
	if err := json.Unmarshal(encoded, restored); err != nil {
		return nil, fmt.Errorf("decoding a pod template: %w", err)
	}
	return restored, nil
}

// awaitRollout says whether the pods are as wanted by now, and if not, why.
func (v *visit) awaitRollout(ctx context.Context) error {
	state, message := judgeRollout(v.deployment())
	if v.changed[childKey{kindDeployment, resources.ServerName(v.instance)}] {
		state, message = rolloutProgressing, "the Deployment was just changed"
	}
	trouble := ""
	if state != rolloutSettled {
		var err error
		if trouble, err = v.podTrouble(ctx); err != nil {
			return err
		}
	}
	return judgeProgress(v.template, state, message, trouble, v.volume)
}

// podTrouble says what keeps the pods that serve from running, if anything.
func (v *visit) podTrouble(ctx context.Context) (string, error) {
	pods, err := v.podsOf(ctx, resources.Selector(v.instance))
	return cmp.Or(describePods(pods), creationTrouble(v.deployment())), err
}
