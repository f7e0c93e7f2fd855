// SPDX-License-Identifier: Apache-2.0

package steps

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/apply"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
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
		Now:        v.Began,
		Wish:       wish,
		Generation: v.Instance.Generation,
		Server:     v.input.Server,
		Retry:      v.Instance.Annotations[v1alpha1.RetryAnnotation],
		Interrupts: resources.StorageOf(v.Instance).SingleWriter,
		Deadline:   resources.Deadline(v.Instance),
		Live:       rollout.TemplateHash(deployment),
		Memory:     v.Instance.Status.Rollout,
	}
	facts.State, _ = rollout.Judge(deployment, facts.Memory.LastReady)
	if deployment != nil {
		facts.Pods = ptr.Deref(deployment.Spec.Replicas, 1)
	}
	if facts.Trouble, err = v.explainFailure(ctx, facts.State); err != nil {
		return err
	}
	v.template = rollout.Decide(facts)
	v.Instance.Status.Rollout = v.template.Memory
	if !v.template.LookAt.IsZero() {
		v.LookAgainAt(v.template.LookAt)
	}
	return nil
}

// explainFailure says what keeps the pods that the Deployment asks for from
// becoming ready, if anything, and whose trouble that is. Pods are asked for once
// in a visit: they are read from the API server itself.
func (v *Visit) explainFailure(ctx context.Context, state rollout.State) (rollout.Trouble, error) {
	if state == rollout.Absent || state == rollout.Settled {
		return rollout.Trouble{}, nil
	}
	if v.trouble != nil {
		return *v.trouble, nil
	}
	found, err := v.Pods(ctx, resources.Selector(v.Instance))
	if err != nil {
		return rollout.Trouble{}, err
	}
	deployment := v.Children.Deployment()
	trouble := rollout.Diagnose(rollout.Findings{
		Pods:     rollout.PodsOf(found, rollout.TemplateHash(deployment)),
		Creation: rollout.CreationTrouble(deployment),
		Volume:   v.volume,
		Embedded: resources.StorageOf(v.Instance).SingleWriter,
		Now:      v.Began,
	})
	v.trouble = &trouble
	return trouble, nil
}

// applyDeployment runs the server, as many pods of it as the spec says. While it
// cannot be decided which template the spec asks for, the pods that there are
// stay as they are, and no first one is started.
func (v *Visit) applyDeployment(ctx context.Context) (err error) {
	if v.input.AppliedSpec, err = encodeSpec(v.Instance.Spec); err != nil {
		return err
	}
	memory := rollout.Memory{Server: v.Instance.Status.Server, Rollout: v.Instance.Status.Rollout}
	if v.input.Rollout, err = memory.Encode(); err != nil {
		return err
	}
	live := v.Children.Deployment()
	switch {
	case live == nil && !v.knows(template, credentials, signingKeys, certificate, configuration):
		return nil
	case !v.knows(template), live != nil && v.input.Server.Revision > resources.Revision:
		// The second is a pin of a newer operator, which was put back: how it
		// builds is not known here, and the wave moves one Instance after the other.
		return v.keepTemplate(ctx, live)
	}
	if v.template.PutBack {
		return v.putBack(ctx, live)
	}
	return v.putDeployment(ctx, resources.BuildDeployment(v.input))
}

// putBack goes back to the template that was ready last. Where nobody has it any
// more, the pods that there are stay as they are.
func (v *Visit) putBack(ctx context.Context, live *appsv1.Deployment) error {
	restored, err := v.lastReadyTemplate(ctx)
	if err != nil {
		return err
	}
	if restored != nil {
		deployment := resources.BuildDeployment(v.input)
		deployment.Spec.Template = restored
		return v.putDeployment(ctx, deployment)
	}
	if err := v.keepTemplate(ctx, live); err != nil || rollout.TemplateHash(live) == v.template.Memory.LastReady {
		return err
	}
	return problem.Stalled("", rollout.ReasonFailed,
		"the pods did not become ready in time, and the replica set of those that did is gone: change the spec")
}

// keepTemplate applies all of the Deployment but what is decided together with
// the pod template: that stays as it was sent before.
func (v *Visit) keepTemplate(ctx context.Context, live *appsv1.Deployment) error {
	sent, err := v.sentDeployment(ctx, live)
	if err != nil {
		return err
	}
	in := v.input
	in.Models = resources.ParseModels(live.Annotations[resources.ModelsAnnotation])
	in.PreflightHash = live.Annotations[resources.PreflightHashAnnotation]
	deployment := resources.BuildDeployment(in)
	deployment.Spec.Template = sent.Spec.Template
	return v.putDeployment(ctx, deployment)
}

// sentDeployment gives what the operator sent of a Deployment. The cache keeps
// no record of who owns which field, so it is read from the API server.
func (v *Visit) sentDeployment(ctx context.Context, live *appsv1.Deployment) (*appsapply.DeploymentApplyConfiguration, error) {
	found := &appsv1.Deployment{}
	if err := v.Live.Get(ctx, client.ObjectKeyFromObject(live), found); err != nil {
		return nil, fmt.Errorf("reading Deployment %s: %w", live.Name, err)
	}
	sent, err := appsapply.ExtractDeployment(found, v.Applier.Manager)
	if err != nil {
		return nil, fmt.Errorf("reading what was sent of Deployment %s: %w", live.Name, err)
	}
	if sent.Spec == nil || sent.Spec.Template == nil {
		return nil, problem.Stalled("", rollout.ReasonFailed,
			"somebody else took over the pod template of Deployment %s: mend the other problems, and it is applied anew", live.Name)
	}
	return sent, nil
}

func (v *Visit) putDeployment(ctx context.Context, deployment *appsapply.DeploymentApplyConfiguration) error {
	v.Instance.Status.Models = resources.ParseModels(deployment.Spec.Template.Annotations[resources.ModelsAnnotation])
	v.Instance.Status.ModelIDs = status.ModelIDs(v.Instance.Status.Models)
	if err := v.put(ctx, "", deployment); err != nil {
		return err
	}
	written := v.Children.Changed(children.Key{Kind: children.KindDeployment, Name: resources.ServerName(v.Instance)})
	v.restarts = written && !isNoteOnly(v.Children.Deployment(), deployment)
	return nil
}

// isNoteOnly says whether a Deployment was written to note something and for
// nothing else: its pods are left alone then.
func isNoteOnly(live *appsv1.Deployment, written *appsapply.DeploymentApplyConfiguration) bool {
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

// lastReadyTemplate gives the template that was ready last, from the ReplicaSet
// that the Deployment's history keeps of it; nil when that is gone.
func (v *Visit) lastReadyTemplate(ctx context.Context) (*coreapply.PodTemplateSpecApplyConfiguration, error) {
	hash := v.template.Memory.LastReady
	var sets appsv1.ReplicaSetList
	err := v.Live.List(ctx, &sets, client.InNamespace(v.Instance.Namespace), client.MatchingLabels(resources.Selector(v.Instance)))
	if err != nil {
		return nil, fmt.Errorf("listing replica sets: %w", err)
	}
	found := rollout.ReplicaSetOf(v.Children.Deployment(), sets.Items, hash)
	if found == nil {
		return nil, nil
	}
	return rollout.TemplateToApply(found.Spec.Template)
}

// awaitRollout says whether the pods are as wanted by now, and if not, why.
func (v *Visit) awaitRollout(ctx context.Context) error {
	name := client.ObjectKeyFromObject(v.Instance)
	if v.restarts {
		v.tellPlace(rollout.Progressing, rollout.Trouble{})
		return rollout.JudgeProgress(name, v.template, rollout.Progressing, "the Deployment was just changed", "", v.volume)
	}
	state, message := rollout.Judge(v.Children.Deployment(), v.Instance.Status.Rollout.LastReady)
	trouble, err := v.explainFailure(ctx, state)
	if err != nil {
		return err
	}
	v.tellPlace(state, trouble)
	return rollout.JudgeProgress(name, v.template, state, message, trouble.Message, v.volume)
}
