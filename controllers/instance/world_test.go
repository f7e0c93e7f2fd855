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
	"github.com/anamnesis-dev/anamnesis/controllers/instance/children"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rollout"
)

// A world does in one namespace what the rest of Kubernetes does: it binds
// volumes, runs Jobs and Deployments, leads Services to them, and collects garbage.
type world struct {
	client    client.Client
	namespace string

	mutex sync.Mutex
	// catalogue is what each server image holds: model ids and their versions,
	// the newest first.
	catalogue map[string]map[string][]string
	// broken says that the pods of a template never become ready.
	broken func(corev1.PodTemplateSpec) bool
	// plight is what their pods say of themselves, and patient that their deadline
	// does not pass.
	plight  corev1.PodStatus
	patient bool
	// unbound says that volumes are not bound.
	unbound bool
	// idle says that Jobs are not run.
	idle bool
	// collects says that garbage is collected.
	collects bool
	// unserved says that Services are led to no endpoint, and refused why a call
	// to one is not answered.
	unserved bool
	refused  error
	// calls counts the calls to Services.
	calls int
	turns int
	// pause is how long it rests between two turns.
	pause time.Duration
}

const newestVersion, olderVersion = "2026-11-21T00:00:00Z", "2026-05-01T00:00:00Z"

func newWorld(t testing.TB, writer client.Client, namespace string) *world {
	models := map[string][]string{"service-en": {newestVersion, olderVersion}, "service-de": {newestVersion}}
	w := &world{
		client:    writer,
		namespace: namespace,
		catalogue: map[string]map[string][]string{serverImage: models, nextServerImage: models},
		broken:    func(corev1.PodTemplateSpec) bool { return false },
		plight:    crashing(),
		collects:  true,
		pause:     50 * time.Millisecond,
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := w.turn(ctx); err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
				t.Errorf("the world stands still: %v", err)
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(w.between()):
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
	return w
}

// change changes how the world is.
func (w *world) change(how func(*world)) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	how(w)
}

func (w *world) between() time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.pause
}

func (w *world) turn(ctx context.Context) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for _, act := range []func(context.Context) error{w.bindVolumes, w.runJobs, w.runWorkloads} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	// To look for garbage is to look at everything, which costs the most.
	if w.turns++; w.turns%5 != 0 {
		return nil
	}
	return w.collectGarbage(ctx)
}

func (w *world) bindVolumes(ctx context.Context) error {
	var claims corev1.PersistentVolumeClaimList
	if err := w.client.List(ctx, &claims, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	for _, claim := range claims.Items {
		phase := corev1.ClaimBound
		if w.unbound {
			phase = corev1.ClaimPending
		}
		if claim.Status.Phase == phase {
			continue
		}
		claim.Status.Phase = phase
		if phase == corev1.ClaimBound {
			claim.Status.Capacity = claim.Spec.Resources.Requests
		}
		if err := w.client.Status().Update(ctx, &claim); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) runJobs(ctx context.Context) error {
	var jobs batchv1.JobList
	if err := w.client.List(ctx, &jobs, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	for _, job := range jobs.Items {
		if len(job.Status.Conditions) > 0 || w.idle {
			continue
		}
		if err := w.runJob(ctx, &job); err != nil {
			return err
		}
	}
	return nil
}

// runJob does what the server's model check does, by the world's catalogue.
func (w *world) runJob(ctx context.Context, job *batchv1.Job) error {
	container := job.Spec.Template.Spec.Containers[0]
	code, message := w.checkModels(container.Image, container.Args)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: job.Name + "-abcde", Namespace: w.namespace,
			Labels:          map[string]string{batchv1.JobNameLabel: job.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	}
	if err := w.client.Create(ctx, pod); client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  container.Name,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: message, FinishedAt: metav1.Now()}},
	}}
	if err := w.client.Status().Update(ctx, pod); err != nil {
		return err
	}
	finishJob(job, code == 0)
	return w.client.Status().Update(ctx, job)
}

func (w *world) checkModels(image string, arguments []string) (code int32, message string) {
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
		versions := w.catalogue[image][id]
		if len(versions) == 0 || version != "" && !slices.Contains(versions, version) {
			return 1, fmt.Sprintf(`{"error":"there is no release of model %s: there are %v"}`, wanted, w.catalogue[image])
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

// runWorkloads runs pods and then says of the same Deployments how far they are:
// of one that changed in between, nothing is said before its pods are there.
func (w *world) runWorkloads(ctx context.Context) error {
	var deployments appsv1.DeploymentList
	if err := w.client.List(ctx, &deployments, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	if err := w.runPods(ctx, deployments.Items); err != nil {
		return err
	}
	return w.runDeployments(ctx, deployments.Items)
}

func (w *world) runDeployments(ctx context.Context, deployments []appsv1.Deployment) error {
	for _, deployment := range deployments {
		if deployment.DeletionTimestamp != nil {
			continue
		}
		if err := w.keepHistory(ctx, &deployment); err != nil {
			return err
		}
		if err := w.runPodOf(ctx, &deployment); err != nil {
			return err
		}
		status := w.deploymentStatus(&deployment)
		if deployment.Status.ObservedGeneration == status.ObservedGeneration && deployment.Status.AvailableReplicas == status.AvailableReplicas && rollout.IsOverdue(deployment.Status) == rollout.IsOverdue(status) {
			continue
		}
		deployment.Status = status
		if err := w.leadService(ctx, &deployment); err != nil {
			return err
		}
		if err := w.client.Status().Update(ctx, &deployment); err != nil {
			return err
		}
	}
	return nil
}

// deploymentStatus is that of a Deployment whose pods start at once, or, when
// they are broken, whose earlier pods go on while the deadline passes at once.
func (w *world) deploymentStatus(deployment *appsv1.Deployment) appsv1.DeploymentStatus {
	wanted := ptr.Deref(deployment.Spec.Replicas, 1)
	status := appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           wanted, UpdatedReplicas: wanted, ReadyReplicas: wanted, AvailableReplicas: wanted,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"}},
	}
	if wanted == 0 || !w.broken(deployment.Spec.Template) {
		return status
	}
	kept := deployment.Status.AvailableReplicas
	if deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		kept = 0
	}
	status.Replicas, status.UpdatedReplicas, status.ReadyReplicas, status.AvailableReplicas = kept+1, 1, kept, kept
	status.Conditions[0].Status, status.Conditions[0].Reason = corev1.ConditionFalse, "ProgressDeadlineExceeded"
	if w.patient {
		status.Conditions[0].Status, status.Conditions[0].Reason = corev1.ConditionTrue, "ReplicaSetUpdated"
	}
	return status
}

// worldLabel is on the pods that the world runs for Deployments.
const worldLabel = "test.example/world"

// runPodOf has a Deployment whose template is broken have its pod before its
// status says that this failed.
func (w *world) runPodOf(ctx context.Context, deployment *appsv1.Deployment) error {
	if !w.isBroken(deployment) {
		return nil
	}
	return w.runPod(ctx, podFor(deployment))
}

func (w *world) isBroken(deployment *appsv1.Deployment) bool {
	return deployment.DeletionTimestamp == nil && ptr.Deref(deployment.Spec.Replicas, 1) > 0 && w.broken(deployment.Spec.Template)
}

// runPods keeps a pod of each template that is broken: there is nothing to be
// said of others.
func (w *world) runPods(ctx context.Context, deployments []appsv1.Deployment) error {
	var found corev1.PodList
	if err := w.client.List(ctx, &found, client.InNamespace(w.namespace), client.HasLabels{worldLabel}); err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, deployment := range deployments {
		if !w.isBroken(&deployment) {
			continue
		}
		pod := podFor(&deployment)
		wanted[pod.Name] = true
		if err := w.runPod(ctx, pod); err != nil {
			return err
		}
	}
	for _, pod := range found.Items {
		if wanted[pod.Name] {
			continue
		}
		if err := w.client.Delete(ctx, &pod); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func podFor(deployment *appsv1.Deployment) *corev1.Pod {
	template := deployment.Spec.Template.DeepCopy()
	template.Name = deployment.Name + "-" + rollout.TemplateHash(deployment)
	template.Namespace = deployment.Namespace
	metav1.SetMetaDataLabel(&template.ObjectMeta, worldLabel, "pod")
	return &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
}

// runPod has a pod say what there is to say.
func (w *world) runPod(ctx context.Context, pod *corev1.Pod) error {
	err := w.client.Create(ctx, pod)
	if apierrors.IsAlreadyExists(err) {
		err = w.client.Get(ctx, client.ObjectKeyFromObject(pod), pod)
	}
	if err != nil {
		return err
	}
	said := pod.Status.DeepCopy()
	pod.Status.Phase, pod.Status.Conditions, pod.Status.ContainerStatuses = w.plight.Phase, w.plight.Conditions, w.plight.ContainerStatuses
	if equality.Semantic.DeepEqual(said, &pod.Status) {
		return nil
	}
	return w.client.Status().Update(ctx, pod)
}

// crashing is what a pod says whose server ends over and over.
func crashing() corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "apiserver", RestartCount: 5,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 5m0s restarting"}},
	}}}
}

// foreign is what a pod says whose server found the data of another Instance in its
// database.
func foreign() corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "apiserver", RestartCount: 1,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 10s restarting"}},
		LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 3, Reason: "Error", Message: "the database holds the data of the Instance with the UID one",
		}},
	}}}
}

// lonely is what a pod says whose server waits for its database, for a while
// already.
func lonely() corev1.PodStatus {
	since := metav1.NewTime(time.Now().Add(-time.Minute).Truncate(time.Second))
	return corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.ContainersReady, Status: corev1.ConditionFalse}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "apiserver", Started: ptr.To(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: since}},
		}},
	}
}

// homeless is what a pod says that no node takes, for some time already.
func homeless(ago time.Duration) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/3 nodes are available: 3 Insufficient memory", LastTransitionTime: metav1.NewTime(time.Now().Add(-ago).Truncate(time.Second)),
	}}}
}

// leadService gives the Service of a Deployment's name an endpoint, which serves
// while the Deployment has pods that are available.
func (w *world) leadService(ctx context.Context, deployment *appsv1.Deployment) error {
	if w.unserved {
		return nil
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name: deployment.Name + "-abcde", Namespace: w.namespace,
			Labels: map[string]string{discoveryv1.LabelServiceName: deployment.Name},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("https"), Port: ptr.To[int32](8443)}},
		Endpoints: []discoveryv1.Endpoint{{
			Addresses:  []string{"10.244.0.7"},
			Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(deployment.Status.AvailableReplicas > 0)},
		}},
	}
	err := w.client.Create(ctx, slice)
	if apierrors.IsAlreadyExists(err) {
		return w.client.Update(ctx, slice)
	}
	return err
}

// call answers a call to a Service.
func (w *world) call(_ context.Context, _ string, certificates []byte) error {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.calls++
	if len(certificates) == 0 {
		return errors.New("called without the certificate to expect")
	}
	return w.refused
}

// keepHistory makes the ReplicaSet that the Deployment controller would.
func (w *world) keepHistory(ctx context.Context, deployment *appsv1.Deployment) error {
	hash := rollout.TemplateHash(deployment)
	template := *deployment.Spec.Template.DeepCopy()
	metav1.SetMetaDataLabel(&template.ObjectMeta, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	selector := deployment.Spec.Selector.DeepCopy()
	metav1.AddLabelToSelector(selector, appsv1.DefaultDeploymentUniqueLabelKey, hash)
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: deployment.Name + "-" + hash, Namespace: w.namespace, Labels: template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: template},
	}
	return client.IgnoreAlreadyExists(w.client.Create(ctx, set))
}

// collectGarbage deletes what belonged to an Instance that is gone, and lets go
// what others hold for the sake of pods. What there is, is looked at before whose
// it is: what a new Instance is given in between belongs to nobody who is gone.
func (w *world) collectGarbage(ctx context.Context) error {
	if !w.collects {
		return nil
	}
	var objects []client.Object
	for _, kind := range children.Kinds {
		list := kind.List.DeepCopyObject().(client.ObjectList)
		if err := w.client.List(ctx, list, client.InNamespace(w.namespace), client.MatchingLabels{resources.ManagedByLabel: resources.ManagedByValue}); err != nil {
			return err
		}
		objects = append(objects, children.Items(list)...)
	}
	var instances v1alpha1.InstanceList
	if err := w.client.List(ctx, &instances, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	there := map[types.UID]bool{}
	for _, instance := range instances.Items {
		there[instance.UID] = true
	}
	for _, object := range objects {
		if err := w.collect(ctx, object, there); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) collect(ctx context.Context, object client.Object, there map[types.UID]bool) error {
	owner := metav1.GetControllerOf(object)
	switch {
	case object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) > 0:
		object.SetFinalizers(nil)
		return w.client.Update(ctx, object)
	case owner != nil && owner.Kind == children.KindInstance && !there[owner.UID]:
		uid := object.GetUID()
		return client.IgnoreNotFound(w.client.Delete(ctx, object, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	}
	return nil
}
