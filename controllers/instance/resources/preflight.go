// SPDX-License-Identifier: Apache-2.0

package resources

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	batchapply "k8s.io/client-go/applyconfigurations/batch/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
)

const (
	// PreflightContainer is the name of the container whose termination message is the
	// result of the preflight check, in JSON.
	PreflightContainer = "model-check"

	terminationLog = "/dev/termination-log"
)

// BuildPreflightJob returns the Job that checks that an image contains the models of the
// spec before any running pod changes. Its pod uses the image and the security settings
// of the server's pods. It mounts no volumes, because they do not affect the result and
// the data volume may allow only one writer.
//
// A negative result is final, so the Job has no retries, except after an eviction. It also
// has no TTL and no deadline: it stores the result until the reconciler deletes it, and it
// keeps trying while its image cannot be pulled.
func BuildPreflightJob(in Input) *batchapply.JobApplyConfiguration {
	return batchapply.Job(PreflightJobName(in.Instance, in.PreflightHash), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithSpec(batchapply.JobSpec().
			WithBackoffLimit(0).
			WithPodFailurePolicy(ignoreDisruptionPolicy()).
			WithTemplate(coreapply.PodTemplateSpec().
				WithLabels(podLabels(in.Instance, PreflightContainer)).
				WithSpec(podSpec(in.Instance, preflightContainer(in)).
					WithRestartPolicy(corev1.RestartPolicyNever))))
}

func preflightContainer(in Input) *coreapply.ContainerApplyConfiguration {
	return coreapply.Container().
		WithName(PreflightContainer).
		WithImage(in.Server.Image).
		WithArgs("model", "check").
		WithArgs(modelArguments(in.Instance.Spec.Models)...).
		WithArgs("--json", "--result-file="+terminationLog).
		WithTerminationMessagePath(terminationLog).
		WithTerminationMessagePolicy(corev1.TerminationMessageReadFile).
		WithResources(defaultResources())
}

// preflightInputs are all inputs that affect the result of a preflight check.
type preflightInputs struct {
	Image     string   `json:"image"`
	Arguments []string `json:"arguments"`
}

// PreflightInputs returns the identity of a preflight check: checks with equal inputs
// have the same result, regardless of their pods' nodes, pull secrets and resources.
// Input.PreflightHash is the hash of their JSON encoding, and is not an input itself.
func PreflightInputs(in Input) any {
	return preflightInputs{in.Server.Image, modelArguments(in.Instance.Spec.Models)}
}

func ignoreDisruptionPolicy() *batchapply.PodFailurePolicyApplyConfiguration {
	return batchapply.PodFailurePolicy().WithRules(batchapply.PodFailurePolicyRule().
		WithAction(batchv1.PodFailurePolicyActionIgnore).
		WithOnPodConditions(batchapply.PodFailurePolicyOnPodConditionsPattern().
			WithType(corev1.DisruptionTarget).
			WithStatus(corev1.ConditionTrue)))
}
