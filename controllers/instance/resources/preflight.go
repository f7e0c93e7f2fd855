// SPDX-License-Identifier: Apache-2.0

package resources

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	batchapply "k8s.io/client-go/applyconfigurations/batch/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	// PreflightContainer is the container whose termination message is the
	// answer of the preflight check, as JSON.
	PreflightContainer = "model-check"

	terminationLog = "/dev/termination-log"
)

// BuildPreflightJob checks that an image holds the models of the spec before
// any running pod is touched. It has the image and security of the server's
// pods and sees the same release files; the other volumes say nothing about
// them, and the data has room for a single writer.
//
// A check that says no is final, so the Job tries once; a pod that was moved
// away before it could say anything is not counted. The Job has no end of its
// own: it is the record of the answer until the reconciler deletes it, and one
// whose image cannot be pulled says so until it can.
func BuildPreflightJob(in Input) *batchapply.JobApplyConfiguration {
	return batchapply.Job(PreflightName(in.Instance, in.PreflightHash), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithSpec(batchapply.JobSpec().
			WithBackoffLimit(0).
			WithPodFailurePolicy(ignoreDisruption()).
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

// preflightQuestion is all that the answer of a preflight check depends on.
type preflightQuestion struct {
	Image     string   `json:"image"`
	Arguments []string `json:"arguments"`
}

// PreflightQuestion tells preflight checks apart: those with the same question
// have the same answer, whatever nodes, credentials for the image or resources
// their pods get. The hash of its JSON is Input.PreflightHash; the question does
// not depend on that.
func PreflightQuestion(in Input) any {
	if !in.has(knowsQuestions) {
		return firstPreflightTemplate(in)
	}
	return preflightQuestion{in.Server.Image, modelArguments(in.Instance.Spec.Models)}
}

// firstPreflightTemplate is what revisions 1 and 2 told checks apart by: the pod
// template of the Job, which then depended on nothing else of the Instance.
// Another value would make every tenant ask again.
func firstPreflightTemplate(in Input) *coreapply.PodTemplateSpecApplyConfiguration {
	instance := &v1alpha1.Instance{}
	instance.Name, instance.Namespace = in.Instance.Name, in.Instance.Namespace
	instance.Spec.Models = in.Instance.Spec.Models
	return BuildPreflightJob(Input{Instance: instance, Server: in.Server}).Spec.Template
}

func ignoreDisruption() *batchapply.PodFailurePolicyApplyConfiguration {
	return batchapply.PodFailurePolicy().WithRules(batchapply.PodFailurePolicyRule().
		WithAction(batchv1.PodFailurePolicyActionIgnore).
		WithOnPodConditions(batchapply.PodFailurePolicyOnPodConditionsPattern().
			WithType(corev1.DisruptionTarget).
			WithStatus(corev1.ConditionTrue)))
}
