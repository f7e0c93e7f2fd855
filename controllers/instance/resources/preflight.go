// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"time"

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

	// preflightRejected is the exit code of a check that ran and said no.
	preflightRejected = 1
	// preflightRetries is how often a check is started again that did not get
	// to say anything, such as one whose node went away.
	preflightRetries = 2
	// preflightDeadline leaves time to pull the image.
	preflightDeadline = 5 * time.Minute
	// preflightKept is how long a finished check can be looked at.
	preflightKept = time.Hour

	terminationLog = "/dev/termination-log"
)

// BuildPreflightJob checks that an image holds the models of the spec before
// any running pod is touched. It has the image and security of the server's
// pods and sees the same release files; the other volumes say nothing about
// them, and the data has room for a single writer. Its name holds a hash of its
// pod template, so that another image or another choice of models is another
// Job, and the same one is the same.
func BuildPreflightJob(instance *v1alpha1.Instance, pin v1alpha1.ServerPin) *batchapply.JobApplyConfiguration {
	template := coreapply.PodTemplateSpec().
		WithLabels(preflightLabels(instance)).
		WithSpec(podSpec(instance, preflightContainer(instance, pin)).
			WithRestartPolicy(corev1.RestartPolicyNever))
	name := instance.Name + preflightInfix + hash(template)
	return batchapply.Job(name, instance.Namespace).
		WithLabels(preflightLabels(instance)).
		WithOwnerReferences(OwnerReference(instance)).
		WithSpec(batchapply.JobSpec().
			WithBackoffLimit(preflightRetries).
			WithActiveDeadlineSeconds(int64(preflightDeadline.Seconds())).
			WithTTLSecondsAfterFinished(int32(preflightKept.Seconds())).
			WithPodFailurePolicy(rejectionIsFinal()).
			WithTemplate(template))
}

func preflightContainer(instance *v1alpha1.Instance, pin v1alpha1.ServerPin) *coreapply.ContainerApplyConfiguration {
	arguments := append([]string{"model", "check"}, modelArguments(instance.Spec.Models)...)
	return coreapply.Container().
		WithName(PreflightContainer).
		WithImage(pin.Image).
		WithArgs(append(arguments, "--json", "--result-file="+terminationLog)...).
		WithTerminationMessagePath(terminationLog).
		WithTerminationMessagePolicy(corev1.TerminationMessageReadFile).
		WithResources(defaultResources())
}

func rejectionIsFinal() *batchapply.PodFailurePolicyApplyConfiguration {
	return batchapply.PodFailurePolicy().WithRules(batchapply.PodFailurePolicyRule().
		WithAction(batchv1.PodFailurePolicyActionFailJob).
		WithOnExitCodes(batchapply.PodFailurePolicyOnExitCodesRequirement().
			WithContainerName(PreflightContainer).
			WithOperator(batchv1.PodFailurePolicyOnExitCodesOpIn).
			WithValues(preflightRejected)))
}
