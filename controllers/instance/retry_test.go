// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// createWithFailedRollout creates an Instance and requests a model whose pods do not become
// ready and have the given status. It waits until the rollout has failed and been rolled
// back.
func (h *harness) createWithFailedRollout(instance *v1alpha1.Instance, podStatus corev1.PodStatus) {
	h.t.Helper()
	h.mustCreate(instance)
	h.waitForConditions(instance.Name, "Ready=True Ready")
	h.cluster.update(func(c *fakeCluster) { c.brokenPodStatus = podStatus })
	h.breakModel(olderVersion)
	h.updateInstance(instance.Name, func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	h.waitForRollback(instance.Name)
}

func (h *harness) waitForRollback(name string) {
	h.t.Helper()
	h.waitForConditions(name, "Ready=False RolloutFailed", "Stalled=True RolloutFailed", "Available=True Serving")
	h.Eventually(func() string { return servedModels(h, name) }).Should(gomega.Equal(earlierModel))
}

// reconcileAfter advances the operator's clock and triggers a reconcile of an Instance.
func (h *harness) reconcileAfter(name string, delay time.Duration) {
	h.t.Helper()
	h.clockOffset.Add(int64(delay))
	h.triggerReconcile(name)
}

func (h *harness) rolloutStatus(name string) v1alpha1.RolloutStatus {
	h.t.Helper()
	return mustGet(h, name, &v1alpha1.Instance{}).Status.Rollout
}

// A deploymentHistory records the models of each pod template that the operator applied,
// in order.
type deploymentHistory struct {
	mutex  sync.Mutex
	models []string
}

// recordDeployment records the operator's future writes to a Deployment and, if onWrite is
// not nil, calls it for each write.
func (h *harness) recordDeployment(name string, onWrite func(context.Context)) *deploymentHistory {
	h.t.Helper()
	history := &deploymentHistory{models: []string{servedModels(h, name)}}
	h.writes.rejectWrites(func(request *http.Request) error {
		if !strings.HasSuffix(request.URL.Path, "/deployments/"+name) {
			return nil
		}
		if onWrite != nil {
			onWrite(request.Context())
		}
		return history.record(request)
	})
	h.t.Cleanup(func() { h.writes.rejectWrites(nil) })
	return history
}

func (h *deploymentHistory) record(request *http.Request) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	body, err := request.GetBody()
	if err != nil {
		return err
	}
	sent := &appsv1.Deployment{}
	if err := json.NewDecoder(body).Decode(sent); err != nil {
		return err
	}
	h.models = append(h.models, sent.Spec.Template.Annotations[resources.ModelsAnnotation])
	return body.Close()
}

// distinctModels returns the models of the applied pod templates, in order and without
// consecutive duplicates.
func (h *deploymentHistory) distinctModels() []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return slices.Compact(slices.Clone(h.models))
}

const earlierModel, desiredModel = "service-en@" + newestVersion, "service-en@" + olderVersion

func TestRolloutRecoversFromDatabaseOutage(t *testing.T) {
	h := newHarness(t)
	h.createWithFailedRollout(h.newExternalInstance("acme"), unreadyPodStatus())
	h.Expect(h.rolloutStatus("acme").FailureReason).To(gomega.Equal(v1alpha1.FailureReasonDatabase))
	h.Expect(h.conditionLines("acme")).To(gomega.ContainElement("StorageReady=False DatabaseUnreachable"))
	h.Expect(h.conditionMessage("acme", "Stalled")).To(gomega.And(
		gomega.ContainSubstring("running but not ready"),
		gomega.ContainSubstring("the next retry is after "+h.rolloutStatus("acme").FailedAt.Add(time.Minute).UTC().Format(time.RFC3339)),
		gomega.ContainSubstring("kubectl annotate instance -n "+h.namespace+" acme anamnesis.dev/retry=")))
	h.Expect(h.kstatus("acme")).To(gomega.Equal(status.FailedStatus))

	h.waitUntilIdle()
	history := h.recordDeployment("acme", nil)
	h.reconcileAfter("acme", 61*time.Second)
	h.Eventually(history.distinctModels).Should(gomega.Equal([]string{earlierModel, desiredModel, earlierModel}), "the database is still unavailable")
	h.waitForRollback("acme")
	h.Expect(h.conditionLines("acme")).To(gomega.ContainElement("StorageReady=False DatabaseUnreachable"))
	h.Expect(h.rolloutStatus("acme").Attempts).To(gomega.BeEquivalentTo(1))
	h.waitUntilIdle()
	h.reconcileAfter("acme", 61*time.Second)
	h.waitUntilIdle()
	h.Expect(history.distinctModels()).To(gomega.HaveLen(3), "the second delay must be longer")

	h.breakModel("none")
	h.reconcileAfter("acme", 61*time.Second)
	h.waitForConditions("acme", "Ready=True Ready", "StorageReady=True DatabaseConfigured")
	h.Expect(servedModels(h, "acme")).To(gomega.Equal(desiredModel))
	h.Expect(h.rolloutStatus("acme").Attempts).To(gomega.BeZero())
}

func TestFailedRolloutIsRequeuedWhenRetryIsDue(t *testing.T) {
	h := newHarness(t)
	h.createWithFailedRollout(h.newExternalInstance("acme"), unreadyPodStatus())
	h.waitUntilIdle()
	result, err := h.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: h.namespace, Name: "acme"}})
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute {
		t.Errorf("got requeue after %s, %v, want at most a minute", result.RequeueAfter, err)
	}
}

// TestForeignDatabaseIsReported checks that a foreign database is reported in a condition
// and not attributed to the server.
func TestForeignDatabaseIsReported(t *testing.T) {
	h := newHarness(t)
	h.cluster.update(func(c *fakeCluster) { c.brokenPodStatus = foreignDatabasePodStatus() })
	h.breakModel(newestVersion)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "StorageReady=False DatabaseNotOwned", "Available=False NoPodReady")
	h.Expect(h.conditionMessage("acme", "StorageReady")).To(gomega.ContainSubstring("belongs to the Instance with UID one"))
	h.Eventually(func() v1alpha1.FailureReason { return h.rolloutStatus("acme").FailureReason }).Should(gomega.Equal(v1alpha1.FailureReasonDatabaseOwnership))
	h.breakModel("none")
	h.waitForConditions("acme", "Ready=True Ready", "StorageReady=True DatabaseConfigured")
}

func TestCrashingServerIsNotRetriedAutomatically(t *testing.T) {
	h := newHarness(t)
	h.createWithFailedRollout(h.newExternalInstance("acme"), crashingPodStatus())
	h.Expect(h.rolloutStatus("acme").FailureReason).To(gomega.Equal(v1alpha1.FailureReasonServer))
	h.Expect(h.conditionMessage("acme", "Stalled")).NotTo(gomega.ContainSubstring("next retry"))
	h.waitUntilIdle()
	history := h.recordDeployment("acme", nil)
	h.reconcileAfter("acme", 10*24*time.Hour)
	h.waitUntilIdle()
	h.Expect(history.distinctModels()).To(gomega.Equal([]string{earlierModel}))
	h.waitForRollback("acme")
}

func TestFailedRolloutIsRetriedOnAnnotation(t *testing.T) {
	h := newHarness(t)
	h.createWithFailedRollout(h.newExternalInstance("acme"), crashingPodStatus())
	h.waitUntilIdle()
	history := h.recordDeployment("acme", nil)
	requestRetry := func(value string) {
		h.updateInstance("acme", func(instance *v1alpha1.Instance) {
			metav1.SetMetaDataAnnotation(&instance.ObjectMeta, v1alpha1.RetryAnnotation, value)
		})
		h.Eventually(func() string { return h.rolloutStatus("acme").LastHandledRetry }).Should(gomega.Equal(value))
	}
	requestRetry("1")
	h.Eventually(history.distinctModels).Should(gomega.Equal([]string{earlierModel, desiredModel, earlierModel}))
	h.waitForRollback("acme")
	h.waitUntilIdle()
	h.triggerReconcile("acme")
	h.waitUntilIdle()
	h.Expect(history.distinctModels()).To(gomega.HaveLen(3), "each request must trigger one retry")

	h.breakModel("none")
	requestRetry("2")
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(servedModels(h, "acme")).To(gomega.Equal(desiredModel))
}

// TestTenantFailureIsRetriedAutomatically covers an unhealthy node, on which the last
// ready template does not start either.
func TestTenantFailureIsRetriedAutomatically(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.cluster.update(func(c *fakeCluster) {
		c.deadlinePending = true
		c.brokenTemplate = func(corev1.PodTemplateSpec) bool { return true }
	})
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	h.waitForConditions("acme", "Stalled=True RolloutFailed", "Available=False NoPodReady")
	h.triggerReconcile("acme")
	h.Eventually(func() v1alpha1.FailureReason { return h.rolloutStatus("acme").FailureReason }).Should(gomega.Equal(v1alpha1.FailureReasonInstance))
	h.Expect(h.conditionMessage("acme", "Stalled")).To(gomega.ContainSubstring("did not become ready either"))

	h.breakModel("none")
	h.waitForConditions("acme", "Stalled=True RolloutFailed", "Available=True Serving")
	h.reconcileAfter("acme", 5*time.Minute)
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(servedModels(h, "acme")).To(gomega.Equal(desiredModel))
}

// TestUnrecoverableRolloutIsRolledBackEarly covers embedded storage, where the Instance
// is down while new pods start.
func TestUnrecoverableRolloutIsRolledBackEarly(t *testing.T) {
	for name, test := range map[string]struct {
		podStatus corev1.PodStatus
		cause     v1alpha1.FailureReason
		contains  string
	}{
		"crashing":      {crashingPodStatus(), v1alpha1.FailureReasonServer, "CrashLoopBackOff"},
		"unschedulable": {unschedulablePodStatus(2 * time.Minute), v1alpha1.FailureReasonInstance, "Insufficient memory"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.cluster.update(func(c *fakeCluster) { c.deadlinePending = true })
			h.createWithFailedRollout(h.newInstance("acme"), test.podStatus)
			h.Expect(h.rolloutStatus("acme").FailureReason).To(gomega.Equal(test.cause))
			h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring(test.contains))
		})
	}
	t.Run("external storage", func(t *testing.T) {
		h := newHarness(t)
		h.mustCreate(h.newExternalInstance("acme"))
		h.waitForConditions("acme", "Ready=True Ready")
		h.cluster.update(func(c *fakeCluster) { c.deadlinePending = true })
		h.breakModel(olderVersion)
		h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
		h.waitForConditions("acme", "Reconciling=True RolloutProgressing", "Available=True Serving")
		h.waitUntilIdle()
		h.triggerReconcile("acme")
		h.waitUntilIdle()
		h.Expect(servedModels(h, "acme")).To(gomega.Equal(desiredModel), "the rollout must continue until the deadline")
	})
}

// TestFailureIsLoadedWithoutStatus checks that a restore without status neither retries
// the failed template nor moves the Instance to another build.
func TestFailureIsLoadedWithoutStatus(t *testing.T) {
	h := newHarness(t)
	h.createWithFailedRollout(h.newExternalInstance("acme"), crashingPodStatus())
	h.waitUntilIdle()
	history := h.recordDeployment("acme", nil)
	h.stop()
	instance := mustGet(h, "acme", &v1alpha1.Instance{})
	saved := instance.Status.Rollout
	instance.Status = v1alpha1.InstanceStatus{}
	if err := h.Status().Update(t.Context(), instance); err != nil {
		t.Fatal(err)
	}
	h.startOperator(nextServerImage)
	h.waitForRollback("acme")
	h.waitUntilIdle()
	h.Expect(history.distinctModels()).To(gomega.Equal([]string{earlierModel}), "the failed template must not be retried")
	h.Expect(h.rolloutStatus("acme")).To(gomega.Equal(saved))
	h.Expect(mustGet(h, "acme", &v1alpha1.Instance{}).Status.Server.Image).To(gomega.Equal(serverImage), "the Instance must not move before its turn")
}

// TestFailureIsSavedWhenStatusUpdateFails edits the Instance after each of the
// operator's writes to the Deployment, so that the following status write conflicts.
func TestFailureIsSavedWhenStatusUpdateFails(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.waitUntilIdle()
	conflicts := 0
	history := h.recordDeployment("acme", func(ctx context.Context) {
		conflicts++
		edit := fmt.Sprintf(`{"metadata":{"annotations":{"test.example/edit":"%d"}}}`, conflicts)
		instance := &v1alpha1.Instance{ObjectMeta: objectMeta(h.namespace, "acme")}
		if err := h.Patch(ctx, instance, client.RawPatch(types.MergePatchType, []byte(edit))); err != nil {
			t.Errorf("editing the Instance: %v", err)
		}
	})
	h.breakModel(olderVersion)
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	h.waitForRollback("acme")
	h.waitUntilIdle()
	h.Expect(history.distinctModels()).To(gomega.Equal([]string{earlierModel, desiredModel, earlierModel}), "the failed template must not be retried")
	h.waitForRollback("acme")
}

// TestSavingStateRestartsNoPod checks that missing or invalid state on the Deployment is
// replaced without restarting pods. An earlier operator saved state in the status only.
func TestSavingStateRestartsNoPod(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.waitUntilIdle()
	readySince := func() metav1.Time {
		ready := meta.FindStatusCondition(mustGet(h, "acme", &v1alpha1.Instance{}).Status.Conditions, v1alpha1.ConditionReady)
		return ready.LastTransitionTime
	}
	before, ready := mustGet(h, "acme", &appsv1.Deployment{}), readySince()
	h.Expect(before.Annotations[resources.RolloutAnnotation]).To(gomega.ContainSubstring(`"lastReadyTemplateHash":"` + h.rolloutStatus("acme").LastReadyTemplateHash))
	h.Expect(before.Spec.Template.Annotations).NotTo(gomega.HaveKey(resources.RolloutAnnotation))
	h.clockOffset.Store(int64(time.Hour))
	for _, text := range []string{"", "rubbish"} {
		mustUpdate(h, "acme", &appsv1.Deployment{}, func(deployment *appsv1.Deployment) {
			delete(deployment.Annotations, resources.RolloutAnnotation)
			if text != "" {
				deployment.Annotations[resources.RolloutAnnotation] = text
			}
		})
		h.Eventually(func() string {
			return mustGet(h, "acme", &appsv1.Deployment{}).Annotations[resources.RolloutAnnotation]
		}).
			Should(gomega.Equal(before.Annotations[resources.RolloutAnnotation]))
		h.waitUntilIdle()
		h.Expect(mustGet(h, "acme", &appsv1.Deployment{}).Spec).To(gomega.Equal(before.Spec))
		h.Expect(readySince()).To(gomega.Equal(ready), "Ready must not change")
	}
}

// TestRollbackWithoutReplicaSetStalls covers a rollback whose ReplicaSet no longer
// exists.
func TestRollbackWithoutReplicaSetStalls(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.cluster.update(func(c *fakeCluster) { c.deadlinePending = true })
	h.breakModel(olderVersion)
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	h.waitForConditions("acme", "Reconciling=True RolloutProgressing")
	set := &appsv1.ReplicaSet{ObjectMeta: objectMeta(h.namespace, "acme-"+h.rolloutStatus("acme").LastReadyTemplateHash)}
	if err := h.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	h.cluster.update(func(c *fakeCluster) { c.deadlinePending = false })
	h.waitForConditions("acme", "Stalled=True RolloutFailed")
	h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("ReplicaSet to roll back to no longer exists"))
	h.expectNoWritesWhenSettled("acme")
	h.Expect(servedModels(h, "acme")).To(gomega.Equal(desiredModel))
}
