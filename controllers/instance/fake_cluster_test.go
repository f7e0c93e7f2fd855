// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/inventory"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
)

// A fakeCluster simulates the rest of Kubernetes in one namespace: it binds volumes,
// runs Jobs and Deployments, updates the endpoints of Services, and collects garbage.
type fakeCluster struct {
	client    client.Client
	namespace string

	mutex sync.Mutex
	// modelsByImage maps server images to model ids and their versions, newest first.
	modelsByImage map[string]map[string][]string
	// brokenTemplate reports whether the pods of a template never become ready.
	brokenTemplate func(corev1.PodTemplateSpec) bool
	// brokenPodStatus is the status of pods of broken templates, and deadlinePending keeps
	// their progress deadline from being exceeded.
	brokenPodStatus corev1.PodStatus
	deadlinePending bool
	// volumesPending keeps volumes unbound.
	volumesPending bool
	// jobsPaused keeps Jobs from running.
	jobsPaused bool
	// collectsGarbage enables garbage collection.
	collectsGarbage bool
	// endpointsPaused keeps Services without endpoints, and probeErr is returned to probes
	// of a Service.
	endpointsPaused bool
	probeErr        error
	// probeCount counts the probes of Services.
	probeCount int
	ticks      int
	// interval is the interval between ticks.
	interval time.Duration
}

const newestVersion, olderVersion = "2026-11-21T00:00:00Z", "2026-05-01T00:00:00Z"

func newFakeCluster(t testing.TB, writer client.Client, namespace string) *fakeCluster {
	models := map[string][]string{"service-en": {newestVersion, olderVersion}, "service-de": {newestVersion}}
	c := &fakeCluster{
		client:          writer,
		namespace:       namespace,
		modelsByImage:   map[string]map[string][]string{serverImage: models, nextServerImage: models},
		brokenTemplate:  func(corev1.PodTemplateSpec) bool { return false },
		brokenPodStatus: crashingPodStatus(),
		collectsGarbage: true,
		interval:        50 * time.Millisecond,
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := c.tick(ctx); err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
				t.Errorf("running the fake cluster: %v", err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(c.tickInterval()):
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return c
}

// update changes the state of the simulated cluster.
func (c *fakeCluster) update(change func(*fakeCluster)) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	change(c)
}

func (c *fakeCluster) tickInterval() time.Duration {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.interval
}

func (c *fakeCluster) tick(ctx context.Context) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, step := range []func(context.Context) error{c.bindVolumes, c.runJobs, c.runWorkloads} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	// Garbage collection reads every object, so it is the most expensive step.
	if c.ticks++; c.ticks%5 != 0 {
		return nil
	}
	return c.collectGarbage(ctx)
}

func (c *fakeCluster) bindVolumes(ctx context.Context) error {
	var claims corev1.PersistentVolumeClaimList
	if err := c.client.List(ctx, &claims, client.InNamespace(c.namespace)); err != nil {
		return err
	}
	for _, claim := range claims.Items {
		phase := corev1.ClaimBound
		if c.volumesPending {
			phase = corev1.ClaimPending
		}
		if claim.Status.Phase == phase {
			continue
		}
		claim.Status.Phase = phase
		if phase == corev1.ClaimBound {
			claim.Status.Capacity = claim.Spec.Resources.Requests
		}
		if err := c.client.Status().Update(ctx, &claim); err != nil {
			return err
		}
	}
	return nil
}

func (c *fakeCluster) runJobs(ctx context.Context) error {
	var jobs batchv1.JobList
	if err := c.client.List(ctx, &jobs, client.InNamespace(c.namespace)); err != nil {
		return err
	}
	for _, job := range jobs.Items {
		if len(job.Status.Conditions) > 0 || c.jobsPaused {
			continue
		}
		if err := c.runJob(ctx, &job); err != nil {
			return err
		}
	}
	return nil
}

// runJob simulates the server's model check with modelsByImage.
func (c *fakeCluster) runJob(ctx context.Context, job *batchv1.Job) error {
	container := job.Spec.Template.Spec.Containers[0]
	code, message := c.checkModels(container.Image, container.Args)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: job.Name + "-abcde", Namespace: c.namespace,
			Labels:          map[string]string{batchv1.JobNameLabel: job.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	}
	if err := c.client.Create(ctx, pod); client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  container.Name,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message, FinishedAt: metav1.Now()}},
	}}
	if err := c.client.Status().Update(ctx, pod); err != nil {
		return err
	}
	finishJob(job, code == 0)
	return c.client.Status().Update(ctx, job)
}

func (c *fakeCluster) checkModels(image string, arguments []string) (code int32, message string) {
	type found struct {
		ID      string `json:"id"`
		Version string `json:"version"`
	}
	var models []found
	for _, argument := range arguments {
		wanted, isModel := strings.CutPrefix(argument, "--model=")
		if !isModel {
			continue
		}
		id, version, _ := strings.Cut(wanted, "@")
		versions := c.modelsByImage[image][id]
		if len(versions) == 0 || version != "" && !slices.Contains(versions, version) {
			return 1, fmt.Sprintf(`{"error":"model %s not found: available models are %v"}`, wanted, c.modelsByImage[image])
		}
		if version == "" {
			version = versions[0]
		}
		models = append(models, found{id, version})
	}
	encoded, err := json.Marshal(map[string]any{"models": models})
	if err != nil {
		return 2, err.Error()
	}
	return 0, string(encoded)
}

func finishJob(job *batchv1.Job, succeeded bool) {
	now := metav1.Now()
	job.Status.StartTime = &now
	kinds := []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobFailed}
	if succeeded {
		job.Status.CompletionTime, job.Status.Succeeded = &now, 1
		kinds = []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete}
	} else {
		job.Status.Failed = 1
	}
	for _, kind := range kinds {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now, Reason: "Test", Message: "in a test",
		})
	}
}

// runWorkloads runs pods and then updates the status of the listed Deployments. If a
// Deployment changes in the meantime, its status is updated only once its pods exist.
func (c *fakeCluster) runWorkloads(ctx context.Context) error {
	var deployments appsv1.DeploymentList
	if err := c.client.List(ctx, &deployments, client.InNamespace(c.namespace)); err != nil {
		return err
	}
	if err := c.syncPods(ctx, deployments.Items); err != nil {
		return err
	}
	return c.runDeployments(ctx, deployments.Items)
}

func (c *fakeCluster) runDeployments(ctx context.Context, deployments []appsv1.Deployment) error {
	for _, deployment := range deployments {
		if deployment.DeletionTimestamp != nil {
			continue
		}
		if err := c.ensureReplicaSet(ctx, &deployment); err != nil {
			return err
		}
		if err := c.ensureBrokenPod(ctx, &deployment); err != nil {
			return err
		}
		status := c.deploymentStatus(&deployment)
		if deployment.Status.ObservedGeneration == status.ObservedGeneration && deployment.Status.AvailableReplicas == status.AvailableReplicas && rollout.IsDeadlineExceeded(deployment.Status) == rollout.IsDeadlineExceeded(status) {
			continue
		}
		deployment.Status = status
		if err := c.updateEndpoints(ctx, &deployment); err != nil {
			return err
		}
		if err := c.client.Status().Update(ctx, &deployment); err != nil {
			return err
		}
	}
	return nil
}

// deploymentStatus returns the status of a Deployment. Pods become ready immediately. For
// a broken template, earlier pods keep running and the deadline is exceeded immediately.
func (c *fakeCluster) deploymentStatus(deployment *appsv1.Deployment) appsv1.DeploymentStatus {
	desired := ptr.Deref(deployment.Spec.Replicas, 1)
	status := appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           desired, UpdatedReplicas: desired, ReadyReplicas: desired, AvailableReplicas: desired,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"}},
	}
	if desired == 0 || !c.brokenTemplate(deployment.Spec.Template) {
		return status
	}
	available := deployment.Status.AvailableReplicas
	if deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		available = 0
	}
	status.Replicas, status.UpdatedReplicas, status.ReadyReplicas, status.AvailableReplicas = available+1, 1, available, available
	status.Conditions[0].Status, status.Conditions[0].Reason = corev1.ConditionFalse, "ProgressDeadlineExceeded"
	if c.deadlinePending {
		status.Conditions[0].Status, status.Conditions[0].Reason = corev1.ConditionTrue, "ReplicaSetUpdated"
	}
	return status
}

// fakeClusterLabel is set on the pods that the fake cluster runs for Deployments.
const fakeClusterLabel = "test.example/world"

// ensureBrokenPod creates the pod of a broken template before the Deployment's status
// reports the failure.
func (c *fakeCluster) ensureBrokenPod(ctx context.Context, deployment *appsv1.Deployment) error {
	if !c.isBroken(deployment) {
		return nil
	}
	return c.ensurePod(ctx, newPodFor(deployment))
}

func (c *fakeCluster) isBroken(deployment *appsv1.Deployment) bool {
	return deployment.DeletionTimestamp == nil && ptr.Deref(deployment.Spec.Replicas, 1) > 0 && c.brokenTemplate(deployment.Spec.Template)
}

// syncPods keeps one pod for each broken template. Other templates need no pods, because
// their status is not diagnosed.
func (c *fakeCluster) syncPods(ctx context.Context, deployments []appsv1.Deployment) error {
	var found corev1.PodList
	if err := c.client.List(ctx, &found, client.InNamespace(c.namespace), client.HasLabels{fakeClusterLabel}); err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, deployment := range deployments {
		if !c.isBroken(&deployment) {
			continue
		}
		pod := newPodFor(&deployment)
		wanted[pod.Name] = true
		if err := c.ensurePod(ctx, pod); err != nil {
			return err
		}
	}
	for _, pod := range found.Items {
		if wanted[pod.Name] {
			continue
		}
		if err := c.client.Delete(ctx, &pod); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func newPodFor(deployment *appsv1.Deployment) *corev1.Pod {
	template := deployment.Spec.Template.DeepCopy()
	template.Name = deployment.Name + "-" + rollout.TemplateHash(deployment)
	template.Namespace = deployment.Namespace
	metav1.SetMetaDataLabel(&template.ObjectMeta, fakeClusterLabel, "pod")
	return &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
}

// ensurePod creates a pod or updates its status.
func (c *fakeCluster) ensurePod(ctx context.Context, pod *corev1.Pod) error {
	err := c.client.Create(ctx, pod)
	if apierrors.IsAlreadyExists(err) {
		err = c.client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
	}
	if err != nil {
		return err
	}
	before := pod.Status.DeepCopy()
	pod.Status.Phase, pod.Status.Conditions, pod.Status.ContainerStatuses = c.brokenPodStatus.Phase, c.brokenPodStatus.Conditions, c.brokenPodStatus.ContainerStatuses
	if equality.Semantic.DeepEqual(before, &pod.Status) {
		return nil
	}
	return c.client.Status().Update(ctx, pod)
}

// crashingPodStatus returns the status of a pod whose server crashes repeatedly.
func crashingPodStatus() corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "apiserver", RestartCount: 5,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 5m0s restarting"}},
	}}}
}

// foreignDatabasePodStatus returns the status of a pod whose server found the data of
// another Instance in its database.
func foreignDatabasePodStatus() corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "apiserver", RestartCount: 1,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 10s restarting"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 3, Reason: "Error", Message: "the database belongs to the Instance with UID one",
		}},
	}}}
}

// unreadyPodStatus returns the status of a pod whose server has long been waiting for its
// database.
func unreadyPodStatus() corev1.PodStatus {
	since := metav1.NewTime(time.Now().Add(-time.Minute).Truncate(time.Second))
	return corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.ContainersReady, Status: corev1.ConditionFalse}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "apiserver", Started: ptr.To(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
		}},
	}
}

// unschedulablePodStatus returns the status of a pod that has been unschedulable for a
// while.
func unschedulablePodStatus(age time.Duration) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/3 nodes are available: 3 Insufficient memory", LastTransitionTime: metav1.NewTime(time.Now().Add(-age).Truncate(time.Second)),
	}}}
}

// updateEndpoints creates or updates an endpoint of the Service with a Deployment's name.
// The endpoint is ready while the Deployment has available pods.
func (c *fakeCluster) updateEndpoints(ctx context.Context, deployment *appsv1.Deployment) error {
	if c.endpointsPaused {
		return nil
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name: deployment.Name + "-abcde", Namespace: c.namespace,
			Labels: map[string]string{discoveryv1.LabelServiceName: deployment.Name},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("https"), Port: ptr.To[int32](8443)}},
		Endpoints: []discoveryv1.Endpoint{{
			Addresses:  []string{"10.244.0.7"},
			Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(deployment.Status.AvailableReplicas > 0)},
		}},
	}
	err := c.client.Create(ctx, slice)
	if apierrors.IsAlreadyExists(err) {
		return c.client.Update(ctx, slice)
	}
	return err
}

// probe simulates a connection to a Service.
func (c *fakeCluster) probe(_ context.Context, _ string, certificates []byte) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.probeCount++
	if len(certificates) == 0 {
		return errors.New("probed without an expected certificate")
	}
	return c.probeErr
}

// ensureReplicaSet creates the ReplicaSet that the Deployment controller would create.
func (c *fakeCluster) ensureReplicaSet(ctx context.Context, deployment *appsv1.Deployment) error {
	hash := rollout.TemplateHash(deployment)
	template := *deployment.Spec.Template.DeepCopy()
	metav1.SetMetaDataLabel(&template.ObjectMeta, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	selector := deployment.Spec.Selector.DeepCopy()
	metav1.AddLabelToSelector(selector, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: deployment.Name + "-" + hash, Namespace: c.namespace, Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template},
	}
	return client.IgnoreAlreadyExists(c.client.Create(ctx, set))
}

// collectGarbage deletes the objects of deleted Instances and removes the finalizers
// that protect objects in use by pods. It lists the objects before the Instances, so
// that it does not delete objects of an Instance created in the meantime.
func (c *fakeCluster) collectGarbage(ctx context.Context) error {
	if !c.collectsGarbage {
		return nil
	}
	var objects []client.Object
	for _, kind := range inventory.Kinds {
		list := kind.List.DeepCopyObject().(client.ObjectList)
		if err := c.client.List(ctx, list, client.InNamespace(c.namespace), client.MatchingLabels{resources.ManagedByLabel: resources.ManagedByValue}); err != nil {
			return err
		}
		objects = append(objects, inventory.ListItems(list)...)
	}
	var instances v1alpha1.InstanceList
	if err := c.client.List(ctx, &instances, client.InNamespace(c.namespace)); err != nil {
		return err
	}
	exists := map[types.UID]bool{}
	for _, instance := range instances.Items {
		exists[instance.UID] = true
	}
	for _, object := range objects {
		if err := c.collectObject(ctx, object, exists); err != nil {
			return err
		}
	}
	return nil
}

func (c *fakeCluster) collectObject(ctx context.Context, object client.Object, exists map[types.UID]bool) error {
	owner := metav1.GetControllerOf(object)
	switch {
	case object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) > 0:
		object.SetFinalizers(nil)
		return c.client.Update(ctx, object)
	case owner != nil && owner.Kind == inventory.KindInstance && !exists[owner.UID]:
		uid := object.GetUID()
		return client.IgnoreNotFound(c.client.Delete(ctx, object, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}
	return nil
}
