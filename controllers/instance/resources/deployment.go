// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

const (
	// DatabaseChecksumAnnotation on a pod template replaces the pods when the
	// database's URL or its authorities change: these are what the server cannot
	// read again. Credentials, certificates and the configuration file it can.
	DatabaseChecksumAnnotation = "anamnesis.dev/database-checksum"

	// DatabasePortsAnnotation on a pod template is the ports of the database that
	// its pods connect to, by the URL that they start with: 5432,6432.
	DatabasePortsAnnotation = "anamnesis.dev/database-ports"

	// TemplateHashAnnotation on a pod template is the hash of all else in it.
	TemplateHashAnnotation = "anamnesis.dev/template-hash"

	// PreflightHashAnnotation on a Deployment is the hash of the preflight check
	// that was last answered. It is not part of the pod template: a question
	// that is put otherwise and answered alike replaces no pod.
	PreflightHashAnnotation = "anamnesis.dev/preflight-hash"

	// AppliedSpecAnnotation on a Deployment is the spec of the Instance, in JSON,
	// that was last applied: what a suspended Instance is kept by.
	AppliedSpecAnnotation = "anamnesis.dev/applied-spec"

	// ModelsAnnotation is models at their versions, as FormatModels writes them:
	// on a Deployment what the preflight check answered, on a pod template what
	// it serves.
	ModelsAnnotation = "anamnesis.dev/models"

	// RolloutAnnotation on a Deployment is what the operator must not forget of
	// its pod templates, in JSON. It is written together with the template that
	// it speaks of, and never part of that.
	RolloutAnnotation = "anamnesis.dev/rollout"

	// ProgressDeadline is how long a rollout may take before it has failed, where
	// the Instance says nothing else. It leaves time to pull the image on a slow
	// network.
	ProgressDeadline = 10 * time.Minute

	// historyLimit is how many templates are kept to put the last good one back.
	historyLimit = 10

	// drain is how long a server goes on serving after it was told to stop,
	// while its address is taken out of every proxy.
	drain = 10 * time.Second
	// terminationGrace is drain and the time that requests then have to end.
	terminationGrace = 40 * time.Second

	logVariable = "ANAMNESIS_LOG_LEVEL"

	keysetsVariable       = "ANAMNESIS_KEYSETS_DIR"
	notificationsVariable = "ANAMNESIS_NOTIFICATIONS_DIR"

	containerServer = "apiserver"
	portTenant      = "https"
	tenantPort      = 8443
	portAdmin       = "admin"
	adminPort       = 8081
)

// BuildDeployment runs the server: the pinned build, with the models at the
// versions that the preflight check found, the default model first.
func BuildDeployment(in Input) *appsapply.DeploymentApplyConfiguration {
	return appsapply.Deployment(ServerName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithAnnotations(annotations(map[string]string{
			ModelsAnnotation:        FormatModels(in.Models),
			PreflightHashAnnotation: in.PreflightHash,
			AppliedSpecAnnotation:   in.AppliedSpec,
			RolloutAnnotation:       in.Rollout,
		})).
		WithSpec(appsapply.DeploymentSpec().
			WithReplicas(replicas(in.Instance)).
			WithRevisionHistoryLimit(historyLimit).
			WithProgressDeadlineSeconds(int32(Deadline(in.Instance).Seconds())).
			WithStrategy(strategy(in.Instance)).
			WithSelector(metaapply.LabelSelector().WithMatchLabels(Selector(in.Instance))).
			WithTemplate(coreapply.PodTemplateSpec().
				WithLabels(serverLabels(in.Instance)).
				WithAnnotations(serverAnnotations(in)).
				WithSpec(serverPod(in))))
}

// replicas is how many pods are to serve.
func replicas(instance *v1alpha1.Instance) int32 {
	switch {
	case instance.Spec.Hibernate:
		return 0
	case StorageOf(instance).SingleWriter:
		return 1
	default:
		return max(instance.Spec.Replicas, 1)
	}
}

// Deadline is how long a rollout of this Instance may take before it has failed.
func Deadline(instance *v1alpha1.Instance) time.Duration {
	if instance.Spec.Rollout == nil {
		return ProgressDeadline
	}
	return cmp.Or(instance.Spec.Rollout.Deadline.Duration, ProgressDeadline)
}

// strategy starts new pods before it stops old ones, except where one volume
// has room for a single writer.
func strategy(instance *v1alpha1.Instance) *appsapply.DeploymentStrategyApplyConfiguration {
	if StorageOf(instance).SingleWriter {
		return appsapply.DeploymentStrategy().WithType(appsv1.RecreateDeploymentStrategyType)
	}
	return appsapply.DeploymentStrategy().
		WithType(appsv1.RollingUpdateDeploymentStrategyType).
		WithRollingUpdate(appsapply.RollingUpdateDeployment().
			WithMaxSurge(intstr.FromString("25%")).
			WithMaxUnavailable(intstr.FromInt32(0)))
}

// serverAnnotations are those of the spec, and the operator's own, which win.
func serverAnnotations(in Input) map[string]string {
	all := map[string]string{}
	if wanted := in.Instance.Spec.Pods; wanted != nil {
		maps.Copy(all, wanted.Annotations)
	}
	maps.Copy(all, annotations(map[string]string{
		ModelsAnnotation:           FormatModels(in.Models),
		DatabaseChecksumAnnotation: in.DatabaseChecksum,
		DatabasePortsAnnotation:    notePorts(in),
		TemplateHashAnnotation:     in.TemplateHash,
	}))
	return all
}

// annotations leaves out those without a value.
func annotations(all map[string]string) map[string]string {
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

func serverPod(in Input) *coreapply.PodSpecApplyConfiguration {
	container := serverContainer(in).
		WithImage(in.Server.Image).
		WithArgs(serveArguments(in.Instance, in.Models)...)
	mounts := mounts(in)
	for _, mount := range mounts {
		container.WithVolumeMounts(mount.inContainer())
	}
	pod := podSpec(in.Instance, container).
		WithTerminationGracePeriodSeconds(int64(terminationGrace.Seconds()))
	for _, mount := range mounts {
		pod.WithVolumes(mount.volume)
	}
	return befriend(spread(pod, in.Instance), in.Instance.Spec.Pods)
}

func serverContainer(in Input) *coreapply.ContainerApplyConfiguration {
	resources := serverResources(in.Instance)
	container := coreapply.Container().
		WithName(containerServer).
		WithResources(resources).
		WithStartupProbe(probe("/livez").WithPeriodSeconds(1).WithFailureThreshold(120)).
		WithReadinessProbe(probe("/readyz").WithPeriodSeconds(5).WithFailureThreshold(2)).
		WithLivenessProbe(probe("/livez").WithPeriodSeconds(10).WithFailureThreshold(6)).
		WithPorts(
			coreapply.ContainerPort().WithName(portTenant).WithContainerPort(tenantPort).WithProtocol(corev1.ProtocolTCP),
			coreapply.ContainerPort().WithName(portAdmin).WithContainerPort(adminPort).WithProtocol(corev1.ProtocolTCP))
	if memory := memoryEnv(in, resources); memory != nil {
		container.WithEnv(memory)
	}
	return container.WithEnv(directoryEnv(in)...).WithEnv(StorageOf(in.Instance).variables...).WithEnv(logEnv(in.Instance.Spec.Pods)...)
}

// directoryEnv tells the server where its later directories are, by variables and
// no arguments: a server image that is older than them must still start.
func directoryEnv(in Input) []*coreapply.EnvVarApplyConfiguration {
	if !in.has(encrypts) {
		return nil
	}
	return []*coreapply.EnvVarApplyConfiguration{
		coreapply.EnvVar().WithName(keysetsVariable).WithValue(keysetsDirectory),
		coreapply.EnvVar().WithName(notificationsVariable).WithValue(notificationsDirectory),
	}
}

// logEnv tells the server from which level on to log, by a variable and no
// argument: a server image that is older than either must still start.
func logEnv(wanted *v1alpha1.Pods) []*coreapply.EnvVarApplyConfiguration {
	if wanted == nil || wanted.LogLevel == "" {
		return nil
	}
	return []*coreapply.EnvVarApplyConfiguration{coreapply.EnvVar().WithName(logVariable).WithValue(string(wanted.LogLevel))}
}

func serveArguments(instance *v1alpha1.Instance, models []v1alpha1.Model) []string {
	arguments := []string{
		"serve",
		"--instance-id=" + instance.Name,
		"--instance-url=" + URL(instance),
		fmt.Sprintf("--listen=:%d", tenantPort),
		fmt.Sprintf("--admin-listen=:%d", adminPort),
		"--tls-cert-file=" + tlsDirectory + "/" + corev1.TLSCertKey,
		"--tls-key-file=" + tlsDirectory + "/" + corev1.TLSPrivateKeyKey,
		"--credentials-dir=" + credentialsDirectory,
		"--signing-keys-dir=" + signingKeysDirectory,
		"--config=" + configDirectory + "/" + configFileName,
		"--drain=" + drain.String(),
	}
	arguments = append(arguments, StorageOf(instance).arguments...)
	return append(arguments, modelArguments(models)...)
}

func probe(path string) *coreapply.ProbeApplyConfiguration {
	return coreapply.Probe().
		WithHTTPGet(coreapply.HTTPGetAction().WithPath(path).WithPort(intstr.FromString(portAdmin))).
		WithTimeoutSeconds(3)
}

// serverResources are those of the spec as a whole, or the defaults: mixing the
// two could ask for more than the limit that the other one sets.
func serverResources(instance *v1alpha1.Instance) *coreapply.ResourceRequirementsApplyConfiguration {
	wanted := instance.Spec.Resources
	if wanted == nil || len(wanted.Requests)+len(wanted.Limits) == 0 {
		return defaultResources()
	}
	resources := coreapply.ResourceRequirements()
	if len(wanted.Requests) > 0 {
		resources.WithRequests(wanted.Requests)
	}
	if len(wanted.Limits) > 0 {
		resources.WithLimits(wanted.Limits)
	}
	return resources
}

// spread asks for different zones and nodes where there are some. It is the
// same for every number of replicas, so that scaling replaces no pod. What pods
// want of nodes is left as it is.
func spread(pod *coreapply.PodSpecApplyConfiguration, instance *v1alpha1.Instance) *coreapply.PodSpecApplyConfiguration {
	if StorageOf(instance).SingleWriter {
		return pod
	}
	selector := metaapply.LabelSelector().WithMatchLabels(Selector(instance))
	if pod.Affinity == nil {
		pod.WithAffinity(coreapply.Affinity())
	}
	pod.Affinity.WithPodAntiAffinity(coreapply.PodAntiAffinity().
		WithPreferredDuringSchedulingIgnoredDuringExecution(coreapply.WeightedPodAffinityTerm().
			WithWeight(100).
			WithPodAffinityTerm(coreapply.PodAffinityTerm().
				WithTopologyKey(corev1.LabelHostname).
				WithLabelSelector(selector))))
	return pod.
		WithTopologySpreadConstraints(coreapply.TopologySpreadConstraint().
			WithMaxSkew(1).
			WithTopologyKey(corev1.LabelTopologyZone).
			WithWhenUnsatisfiable(corev1.ScheduleAnyway).
			WithLabelSelector(selector))
}
