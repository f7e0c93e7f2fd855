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

// createWithFailedRollout makes an Instance ask for a model whose pods do not become
// ready, with a given pod status, and waits until the rollout has failed and the last
// ready template is restored.
func (p *harness) createWithFailedRollout(instance *v1alpha1.Instance, plight corev1.PodStatus) {
	p.t.Helper()
	p.mustCreate(instance)
	p.waitForConditions(instance.Name, "Ready=True Ready")
	p.cluster.update(func(w *fakeCluster) { w.brokenPodStatus = plight })
	p.breakModel(olderVersion)
	p.updateInstance(instance.Name, func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.waitForRollback(instance.Name)
}

func (p *harness) waitForRollback(name string) {
	p.t.Helper()
	p.waitForConditions(name, "Ready=False RolloutFailed", "Stalled=True RolloutFailed", "Available=True Serving")
	p.Eventually(func() string { return servedModels(p, name) }).Should(gomega.Equal(earlierModel))
}

// reconcileAfter advances the operator's clock and triggers a reconcile of an Instance.
func (p *harness) reconcileAfter(name string, later time.Duration) {
	p.t.Helper()
	p.clockOffset.Add(int64(later))
	p.triggerReconcile(name)
}

func (p *harness) rolloutStatus(name string) v1alpha1.RolloutStatus {
	p.t.Helper()
	return mustGet(p, name, &v1alpha1.Instance{}).Status.Rollout
}

// A deploymentHistory records the models of each pod template that the operator applied,
// in order.
type deploymentHistory struct {
	mutex  sync.Mutex
	models []string
}

// recordDeployment records the operator's writes to a Deployment from now on, and calls
// then after each.
func (p *harness) recordDeployment(name string, then func(context.Context)) *deploymentHistory {
	p.t.Helper()
	h := &deploymentHistory{models: []string{servedModels(p, name)}}
	p.writes.rejectWrites(func(request *http.Request) error {
		if !strings.HasSuffix(request.URL.Path, "/deployments/"+name) {
			return nil
		}
		if then != nil {
			then(request.Context())
		}
		return h.record(request)
	})
	p.t.Cleanup(func() { p.writes.rejectWrites(nil) })
	return h
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

// distinctModels returns the models that pods were asked to serve, in order, without
// consecutive duplicates.
func (h *deploymentHistory) distinctModels() []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return slices.Compact(slices.Clone(h.models))
}

const earlierModel, desiredModel = "service-en@" + newestVersion, "service-en@" + olderVersion

func TestRolloutRecoversFromDatabaseOutage(t *testing.T) {
	p := newHarness(t)
	p.createWithFailedRollout(p.newExternalInstance("acme"), unreadyPodStatus())
	p.Expect(p.rolloutStatus("acme").FailureReason).To(gomega.Equal(v1alpha1.FailureReasonDatabase))
	p.Expect(p.conditionLines("acme")).To(gomega.ContainElement("StorageReady=False DatabaseUnreachable"))
	p.Expect(p.conditionMessage("acme", "Stalled")).To(gomega.And(
		gomega.ContainSubstring("running but not ready"),
		gomega.ContainSubstring("the next retry is after "+p.rolloutStatus("acme").FailedAt.Add(time.Minute).UTC().Format(time.RFC3339)),
		gomega.ContainSubstring("kubectl annotate instance -n "+p.namespace+" acme anamnesis.dev/retry=")))
	p.Expect(p.kstatus("acme")).To(gomega.Equal(status.FailedStatus))

	p.waitUntilIdle()
	asked := p.recordDeployment("acme", nil)
	p.reconcileAfter("acme", 61*time.Second)
	p.Eventually(asked.distinctModels).Should(gomega.Equal([]string{earlierModel, desiredModel, earlierModel}), "the database is still away")
	p.waitForRollback("acme")
	p.Expect(p.conditionLines("acme")).To(gomega.ContainElement("StorageReady=False DatabaseUnreachable"))
	p.Expect(p.rolloutStatus("acme").Attempts).To(gomega.BeEquivalentTo(1))
	p.waitUntilIdle()
	p.reconcileAfter("acme", 61*time.Second)
	p.waitUntilIdle()
	p.Expect(asked.distinctModels()).To(gomega.HaveLen(3), "the second pause is longer")

	p.breakModel("none")
	p.reconcileAfter("acme", 61*time.Second)
	p.waitForConditions("acme", "Ready=True Ready", "StorageReady=True DatabaseConfigured")
	p.Expect(servedModels(p, "acme")).To(gomega.Equal(desiredModel))
	p.Expect(p.rolloutStatus("acme").Attempts).To(gomega.BeZero())
}

func TestFailedRolloutIsRequeuedWhenRetryIsDue(t *testing.T) {
	p := newHarness(t)
	p.createWithFailedRollout(p.newExternalInstance("acme"), unreadyPodStatus())
	p.waitUntilIdle()
	result, err := p.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: p.namespace, Name: "acme"}})
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute {
		t.Errorf("the next visit is due in %s, %v", result.RequeueAfter, err)
	}
}

// A foreign database is reported in a condition and is not attributed to the server.
func TestForeignDatabaseIsReported(t *testing.T) {
	p := newHarness(t)
	p.cluster.update(func(w *fakeCluster) { w.brokenPodStatus = foreignDatabasePodStatus() })
	p.breakModel(newestVersion)
	p.mustCreate(p.newExternalInstance("acme"))
	p.waitForConditions("acme", "StorageReady=False DatabaseNotOwned", "Available=False NoPodReady")
	p.Expect(p.conditionMessage("acme", "StorageReady")).To(gomega.ContainSubstring("belongs to the Instance with UID one"))
	p.Eventually(func() v1alpha1.FailureReason { return p.rolloutStatus("acme").FailureReason }).Should(gomega.Equal(v1alpha1.FailureReasonDatabaseOwnership))
	p.breakModel("none")
	p.waitForConditions("acme", "Ready=True Ready", "StorageReady=True DatabaseConfigured")
}

func TestCrashingServerIsNotRetriedAutomatically(t *testing.T) {
	p := newHarness(t)
	p.createWithFailedRollout(p.newExternalInstance("acme"), crashingPodStatus())
	p.Expect(p.rolloutStatus("acme").FailureReason).To(gomega.Equal(v1alpha1.FailureReasonServer))
	p.Expect(p.conditionMessage("acme", "Stalled")).NotTo(gomega.ContainSubstring("next retry"))
	p.waitUntilIdle()
	asked := p.recordDeployment("acme", nil)
	p.reconcileAfter("acme", 10*24*time.Hour)
	p.waitUntilIdle()
	p.Expect(asked.distinctModels()).To(gomega.Equal([]string{earlierModel}))
	p.waitForRollback("acme")
}

func TestFailedRolloutIsRetriedOnAnnotation(t *testing.T) {
	p := newHarness(t)
	p.createWithFailedRollout(p.newExternalInstance("acme"), crashingPodStatus())
	p.waitUntilIdle()
	asked := p.recordDeployment("acme", nil)
	ask := func(value string) {
		p.updateInstance("acme", func(instance *v1alpha1.Instance) {
			metav1.SetMetaDataAnnotation(&instance.ObjectMeta, v1alpha1.RetryAnnotation, value)
		})
		p.Eventually(func() string { return p.rolloutStatus("acme").Retried }).Should(gomega.Equal(value))
	}
	ask("1")
	p.Eventually(asked.distinctModels).Should(gomega.Equal([]string{earlierModel, desiredModel, earlierModel}))
	p.waitForRollback("acme")
	p.waitUntilIdle()
	p.triggerReconcile("acme")
	p.waitUntilIdle()
	p.Expect(asked.distinctModels()).To(gomega.HaveLen(3), "it was asked for once")

	p.breakModel("none")
	ask("2")
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(servedModels(p, "acme")).To(gomega.Equal(desiredModel))
}

// TestTenantFailureIsRetriedAutomatically covers an unhealthy node, on which the last
// ready template does not start either.
func TestTenantFailureIsRetriedAutomatically(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.cluster.update(func(w *fakeCluster) {
		w.deadlinePending = true
		w.brokenTemplate = func(corev1.PodTemplateSpec) bool { return true }
	})
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.waitForConditions("acme", "Stalled=True RolloutFailed", "Available=False NoPodReady")
	p.triggerReconcile("acme")
	p.Eventually(func() v1alpha1.FailureReason { return p.rolloutStatus("acme").FailureReason }).Should(gomega.Equal(v1alpha1.FailureReasonInstance))
	p.Expect(p.conditionMessage("acme", "Stalled")).To(gomega.ContainSubstring("did not become ready either"))

	p.breakModel("none")
	p.waitForConditions("acme", "Stalled=True RolloutFailed", "Available=True Serving")
	p.reconcileAfter("acme", 5*time.Minute)
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(servedModels(p, "acme")).To(gomega.Equal(desiredModel))
}

// TestUnrecoverableRolloutIsRolledBackEarly covers embedded storage, where the Instance
// is down while new pods start.
func TestUnrecoverableRolloutIsRolledBackEarly(t *testing.T) {
	for name, test := range map[string]struct {
		plight corev1.PodStatus
		cause  v1alpha1.FailureReason
		says   string
	}{
		"crashing":      {crashingPodStatus(), v1alpha1.FailureReasonServer, "CrashLoopBackOff"},
		"unschedulable": {unschedulablePodStatus(2 * time.Minute), v1alpha1.FailureReasonInstance, "Insufficient memory"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t)
			p.cluster.update(func(w *fakeCluster) { w.deadlinePending = true })
			p.createWithFailedRollout(p.newInstance("acme"), test.plight)
			p.Expect(p.rolloutStatus("acme").FailureReason).To(gomega.Equal(test.cause))
			p.Expect(p.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring(test.says))
		})
	}
	t.Run("others serve meanwhile", func(t *testing.T) {
		p := newHarness(t)
		p.mustCreate(p.newExternalInstance("acme"))
		p.waitForConditions("acme", "Ready=True Ready")
		p.cluster.update(func(w *fakeCluster) { w.deadlinePending = true })
		p.breakModel(olderVersion)
		p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
		p.waitForConditions("acme", "Reconciling=True RolloutProgressing", "Available=True Serving")
		p.waitUntilIdle()
		p.triggerReconcile("acme")
		p.waitUntilIdle()
		p.Expect(servedModels(p, "acme")).To(gomega.Equal(desiredModel), "the deadline decides")
	})
}

// TestFailureIsLoadedWithoutStatus checks that a restore without status neither retries
// the failed template nor moves the Instance to another build.
func TestFailureIsLoadedWithoutStatus(t *testing.T) {
	p := newHarness(t)
	p.createWithFailedRollout(p.newExternalInstance("acme"), crashingPodStatus())
	p.waitUntilIdle()
	asked := p.recordDeployment("acme", nil)
	p.stop()
	instance := mustGet(p, "acme", &v1alpha1.Instance{})
	remembered := instance.Status.Rollout
	instance.Status = v1alpha1.InstanceStatus{}
	if err := p.Status().Update(t.Context(), instance); err != nil {
		t.Fatal(err)
	}
	p.startOperator(nextServerImage)
	p.waitForRollback("acme")
	p.waitUntilIdle()
	p.Expect(asked.distinctModels()).To(gomega.Equal([]string{earlierModel}), "the template that failed is tried again")
	p.Expect(p.rolloutStatus("acme")).To(gomega.Equal(remembered))
	p.Expect(mustGet(p, "acme", &v1alpha1.Instance{}).Status.Server.Image).To(gomega.Equal(serverImage), "it is moved before its turn")
}

// TestFailureIsSavedWhenStatusUpdateFails edits the Instance after each of the
// operator's writes to the Deployment, so that the following status write conflicts.
func TestFailureIsSavedWhenStatusUpdateFails(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newExternalInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.waitUntilIdle()
	conflicts := 0
	asked := p.recordDeployment("acme", func(ctx context.Context) {
		conflicts++
		edit := fmt.Sprintf(`{"metadata":{"annotations":{"test.example/edit":"%d"}}}`, conflicts)
		instance := &v1alpha1.Instance{ObjectMeta: objectMeta(p.namespace, "acme")}
		if err := p.Patch(ctx, instance, client.RawPatch(types.MergePatchType, []byte(edit))); err != nil {
			t.Errorf("editing the Instance: %v", err)
		}
	})
	p.breakModel(olderVersion)
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.waitForRollback("acme")
	p.waitUntilIdle()
	p.Expect(asked.distinctModels()).To(gomega.Equal([]string{earlierModel, desiredModel, earlierModel}), "what failed is tried again")
	p.waitForRollback("acme")
}

// TestSavingStateRestartsNoPod checks that state that an earlier operator saved in the
// status alone is saved on the Deployment without restarting pods, and likewise if the
// saved state is invalid.
func TestSavingStateRestartsNoPod(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.waitUntilIdle()
	since := func() metav1.Time {
		ready := meta.FindStatusCondition(mustGet(p, "acme", &v1alpha1.Instance{}).Status.Conditions, v1alpha1.ConditionReady)
		return ready.LastTransitionTime
	}
	before, ready := mustGet(p, "acme", &appsv1.Deployment{}), since()
	p.Expect(before.Annotations[resources.RolloutAnnotation]).To(gomega.ContainSubstring(`"lastReady":"` + p.rolloutStatus("acme").LastReady))
	p.Expect(before.Spec.Template.Annotations).NotTo(gomega.HaveKey(resources.RolloutAnnotation))
	p.clockOffset.Store(int64(time.Hour))
	for _, text := range []string{"", "rubbish"} {
		mustUpdate(p, "acme", &appsv1.Deployment{}, func(deployment *appsv1.Deployment) {
			delete(deployment.Annotations, resources.RolloutAnnotation)
			if text != "" {
				deployment.Annotations[resources.RolloutAnnotation] = text
			}
		})
		p.Eventually(func() string {
			return mustGet(p, "acme", &appsv1.Deployment{}).Annotations[resources.RolloutAnnotation]
		}).
			Should(gomega.Equal(before.Annotations[resources.RolloutAnnotation]))
		p.waitUntilIdle()
		p.Expect(mustGet(p, "acme", &appsv1.Deployment{}).Spec).To(gomega.Equal(before.Spec))
		p.Expect(since()).To(gomega.Equal(ready), "it was not ready for a moment")
	}
}

// TestRollbackWithoutReplicaSetStalls covers a rollback whose ReplicaSet no longer
// exists.
func TestRollbackWithoutReplicaSetStalls(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newExternalInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.cluster.update(func(w *fakeCluster) { w.deadlinePending = true })
	p.breakModel(olderVersion)
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.waitForConditions("acme", "Reconciling=True RolloutProgressing")
	set := &appsv1.ReplicaSet{ObjectMeta: objectMeta(p.namespace, "acme-"+p.rolloutStatus("acme").LastReady)}
	if err := p.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	p.cluster.update(func(w *fakeCluster) { w.deadlinePending = false })
	p.waitForConditions("acme", "Stalled=True RolloutFailed")
	p.Expect(p.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("ReplicaSet to roll back to is gone"))
	p.expectNoWritesWhenSettled("acme")
	p.Expect(servedModels(p, "acme")).To(gomega.Equal(desiredModel))
}
