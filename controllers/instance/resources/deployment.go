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
	// DatabaseChecksumAnnotation on a pod template triggers a pod replacement when the
	// database's URL or CA bundle changes. The server cannot reload these, unlike
	// credentials, certificates and the configuration file.
	DatabaseChecksumAnnotation = "anamnesis.dev/database-checksum"

	// DatabasePortsAnnotation on a pod template lists the ports of the database URL that its
	// pods start with, such as 5432,6432.
	DatabasePortsAnnotation = "anamnesis.dev/database-ports"

	// TemplateHashAnnotation on a pod template is the hash of the rest of the template.
	TemplateHashAnnotation = "anamnesis.dev/template-hash"

	// PreflightHashAnnotation on a Deployment is the hash of the last completed preflight
	// check. It is not part of the pod template, so that a changed check with the same
	// result replaces no pod.
	PreflightHashAnnotation = "anamnesis.dev/preflight-hash"

	// AppliedSpecAnnotation on a Deployment is the Instance's last applied spec, in JSON,
	// which the maintenance phases of a suspended Instance use.
	AppliedSpecAnnotation = "anamnesis.dev/applied-spec"

	// ModelsAnnotation lists models with their versions, in the format of FormatModels: the
	// result of the preflight check on a Deployment, and the served models on a pod template.
	ModelsAnnotation = "anamnesis.dev/models"

	// RolloutAnnotation on a Deployment is the operator's saved rollout state, in JSON. It
	// is written together with the pod template that it describes, but is not part of the
	// template.
	RolloutAnnotation = "anamnesis.dev/rollout"

	// DefaultProgressDeadline is how long a rollout may take before it fails, unless the
	// Instance sets a deadline. It leaves time to pull the image over a slow network.
	DefaultProgressDeadline = 10 * time.Minute

	// revisionHistoryLimit is the number of templates kept for a rollback.
	revisionHistoryLimit = 10

	// drainPeriod is how long a server keeps serving after SIGTERM, while proxies remove its
	// address.
	drainPeriod = 10 * time.Second
	// terminationGracePeriod is drainPeriod plus the time to finish pending requests.
	terminationGracePeriod = 40 * time.Second

	logLevelEnv = "ANAMNESIS_LOG_LEVEL"

	keysetsDirEnv       = "ANAMNESIS_KEYSETS_DIR"
	notificationsDirEnv = "ANAMNESIS_NOTIFICATIONS_DIR"

	serverContainerName = "apiserver"
	tenantPortName      = "https"
	tenantPort          = 8443
	adminPortName       = "admin"
	adminPort           = 8081
)

// BuildDeployment returns the Deployment of the pinned server build, which serves the
// models at the versions from the preflight check. The first model is the default.
func BuildDeployment(in Input) *appsapply.DeploymentApplyConfiguration {
	return appsapply.Deployment(ServerName(in.Instance), in.Instance.Namespace).
		WithLabels(Labels(in.Instance)).
		WithAnnotations(dropEmpty(map[string]string{
			ModelsAnnotation:        FormatModels(in.Models),
			PreflightHashAnnotation: in.PreflightHash,
			AppliedSpecAnnotation:   in.AppliedSpec,
			RolloutAnnotation:       in.Rollout,
		})).
		WithSpec(appsapply.DeploymentSpec().
			WithReplicas(replicas(in.Instance)).
			WithRevisionHistoryLimit(revisionHistoryLimit).
			WithProgressDeadlineSeconds(int32(RolloutDeadline(in.Instance).Seconds())).
			WithStrategy(strategy(in.Instance)).
			WithSelector(metaapply.LabelSelector().WithMatchLabels(Selector(in.Instance))).
			WithTemplate(coreapply.PodTemplateSpec().
				WithLabels(serverLabels(in.Instance)).
				WithAnnotations(serverAnnotations(in)).
				WithSpec(serverPod(in))))
}

// replicas returns the desired number of pods.
func replicas(instance *v1alpha1.Instance) int32 {
	switch {
	case instance.Spec.Hibernate:
		return 0
	case StorageFor(instance).SingleWriter:
		return 1
	default:
		return max(instance.Spec.Replicas, 1)
	}
}

// RolloutDeadline returns how long a rollout of the Instance may take before it fails.
func RolloutDeadline(instance *v1alpha1.Instance) time.Duration {
	if instance.Spec.Rollout == nil {
		return DefaultProgressDeadline
	}
	return cmp.Or(instance.Spec.Rollout.Deadline.Duration, DefaultProgressDeadline)
}

// strategy returns a rolling update, which starts new pods before it stops old ones, or
// Recreate if the storage allows only one writer.
func strategy(instance *v1alpha1.Instance) *appsapply.DeploymentStrategyApplyConfiguration {
	if StorageFor(instance).SingleWriter {
		return appsapply.DeploymentStrategy().WithType(appsv1.RecreateDeploymentStrategyType)
	}
	return appsapply.DeploymentStrategy().
		WithType(appsv1.RollingUpdateDeploymentStrategyType).
		WithRollingUpdate(appsapply.RollingUpdateDeployment().
			WithMaxSurge(intstr.FromString("25%")).
			WithMaxUnavailable(intstr.FromInt32(0)))
}

// serverAnnotations merges the spec's annotations with the operator's, which take
// precedence.
func serverAnnotations(in Input) map[string]string {
	annotations := map[string]string{}
	if pods := in.Instance.Spec.Pods; pods != nil {
		maps.Copy(annotations, pods.Annotations)
	}
	maps.Copy(annotations, dropEmpty(map[string]string{
		ModelsAnnotation:           FormatModels(in.Models),
		DatabaseChecksumAnnotation: in.DatabaseChecksum,
		DatabasePortsAnnotation:    formatDatabasePorts(in),
		TemplateHashAnnotation:     in.TemplateHash,
	}))
	return annotations
}

// dropEmpty removes entries without a value.
func dropEmpty(annotations map[string]string) map[string]string {
	maps.DeleteFunc(annotations, func(_, value string) bool { return value == "" })
	return annotations
}

func serverPod(in Input) *coreapply.PodSpecApplyConfiguration {
	container := serverContainer(in.Instance).
		WithImage(in.Server.Image).
		WithArgs(serveArguments(in.Instance, in.Models)...)
	mounts := mounts(in.Instance)
	for _, mount := range mounts {
		container.WithVolumeMounts(mount.volumeMount())
	}
	pod := podSpec(in.Instance, container).
		WithTerminationGracePeriodSeconds(int64(terminationGracePeriod.Seconds()))
	for _, mount := range mounts {
		pod.WithVolumes(mount.volume)
	}
	return addPodAffinity(addSpreadConstraints(pod, in.Instance), in.Instance.Spec.Pods)
}

func serverContainer(instance *v1alpha1.Instance) *coreapply.ContainerApplyConfiguration {
	resources := serverResources(instance)
	container := coreapply.Container().
		WithName(serverContainerName).
		WithResources(resources).
		WithStartupProbe(httpProbe("/livez").WithPeriodSeconds(1).WithFailureThreshold(120)).
		WithReadinessProbe(httpProbe("/readyz").WithPeriodSeconds(5).WithFailureThreshold(2)).
		WithLivenessProbe(httpProbe("/livez").WithPeriodSeconds(10).WithFailureThreshold(6)).
		WithPorts(
			coreapply.ContainerPort().WithName(tenantPortName).WithContainerPort(tenantPort).WithProtocol(corev1.ProtocolTCP),
			coreapply.ContainerPort().WithName(adminPortName).WithContainerPort(adminPort).WithProtocol(corev1.ProtocolTCP))
	if memory := memoryEnv(resources); memory != nil {
		container.WithEnv(memory)
	}
	return container.WithEnv(directoryEnv()...).WithEnv(StorageFor(instance).env...).WithEnv(logEnv(instance.Spec.Pods)...)
}

// directoryEnv returns environment variables for the server's newer directories. They are
// not set by arguments, because a server image that predates them must still start.
func directoryEnv() []*coreapply.EnvVarApplyConfiguration {
	return []*coreapply.EnvVarApplyConfiguration{
		coreapply.EnvVar().WithName(keysetsDirEnv).WithValue(keysetsDirectory),
		coreapply.EnvVar().WithName(notificationsDirEnv).WithValue(notificationsDirectory),
	}
}

// logEnv returns the environment variable for the server's log level. It is not set by an
// argument, because a server image that predates it must still start.
func logEnv(pods *v1alpha1.Pods) []*coreapply.EnvVarApplyConfiguration {
	if pods == nil || pods.LogLevel == "" {
		return nil
	}
	return []*coreapply.EnvVarApplyConfiguration{coreapply.EnvVar().WithName(logLevelEnv).WithValue(string(pods.LogLevel))}
}

func serveArguments(instance *v1alpha1.Instance, models []v1alpha1.Model) []string {
	args := []string{
		"serve",
		"--instance-id=" + instance.Name,
		"--instance-url=" + ClusterURL(instance),
		fmt.Sprintf("--listen=:%d", tenantPort),
		fmt.Sprintf("--admin-listen=:%d", adminPort),
		"--tls-cert-file=" + tlsDirectory + "/" + corev1.TLSCertKey,
		"--tls-key-file=" + tlsDirectory + "/" + corev1.TLSPrivateKeyKey,
		"--credentials-dir=" + credentialsDirectory,
		"--signing-keys-dir=" + signingKeysDirectory,
		"--config=" + configDirectory + "/" + configFileName,
		"--drain=" + drainPeriod.String(),
	}
	args = append(args, StorageFor(instance).args...)
	return append(args, modelArguments(models)...)
}

func httpProbe(path string) *coreapply.ProbeApplyConfiguration {
	return coreapply.Probe().
		WithHTTPGet(coreapply.HTTPGetAction().WithPath(path).WithPort(intstr.FromString(adminPortName))).
		WithTimeoutSeconds(3)
}

// serverResources returns either the spec's resources or the defaults. It never mixes
// them, because a request from one could exceed a limit from the other.
func serverResources(instance *v1alpha1.Instance) *coreapply.ResourceRequirementsApplyConfiguration {
	specified := instance.Spec.Resources
	if specified == nil || len(specified.Requests)+len(specified.Limits) == 0 {
		return defaultResources()
	}
	resources := coreapply.ResourceRequirements()
	if len(specified.Requests) > 0 {
		resources.WithRequests(specified.Requests)
	}
	if len(specified.Limits) > 0 {
		resources.WithLimits(specified.Limits)
	}
	return resources
}

// addSpreadConstraints spreads pods across zones and nodes where possible. The
// constraints do not depend on the number of replicas, so that scaling replaces no pod.
func addSpreadConstraints(pod *coreapply.PodSpecApplyConfiguration, instance *v1alpha1.Instance) *coreapply.PodSpecApplyConfiguration {
	if StorageFor(instance).SingleWriter {
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
