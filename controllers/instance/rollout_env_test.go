// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/authority"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// breakModel keeps pods from becoming ready if they serve a version of a model.
func (h *harness) breakModel(version string) {
	h.cluster.update(func(c *fakeCluster) {
		c.brokenTemplate = func(template corev1.PodTemplateSpec) bool {
			return strings.Contains(template.Annotations[resources.ModelsAnnotation], version)
		}
	})
}

func servedModels(h *harness, name string) string {
	return mustGet(h, name, &appsv1.Deployment{}).Spec.Template.Annotations[resources.ModelsAnnotation]
}

// templateHashes returns the hashes of all pod templates of an Instance's Deployment. The
// generation is unsuitable, because it increases with every annotation change.
func (h *harness) templateHashes(name string) []string {
	h.t.Helper()
	var sets appsv1.ReplicaSetList
	if err := h.List(h.t.Context(), &sets, client.InNamespace(h.namespace), client.MatchingLabels{resources.InstanceLabel: name}); err != nil {
		h.t.Fatal(err)
	}
	var names []string
	for _, set := range sets.Items {
		names = append(names, set.Spec.Template.Annotations[resources.TemplateHashAnnotation])
	}
	return names
}

func TestFailedRolloutIsRolledBack(t *testing.T) {
	for name, build := range map[string]func(*harness) *v1alpha1.Instance{
		"surge":    func(h *harness) *v1alpha1.Instance { return h.newExternalInstance("acme") },
		"recreate": func(h *harness) *v1alpha1.Instance { return h.newInstance("acme") },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			h.breakModel(olderVersion)
			h.mustCreate(build(h))
			h.waitForConditions("acme", "Ready=True Ready")

			h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
			h.waitForConditions("acme", "Ready=False RolloutFailed", "Stalled=True RolloutFailed", "Available=True Serving")
			h.Expect(h.kstatus("acme")).To(gomega.Equal(status.FailedStatus))
			h.Eventually(func() string { return servedModels(h, "acme") }).Should(gomega.Equal("service-en@" + newestVersion))
			h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("rolled back"))
			h.expectNoWritesWhenSettled("acme")
			h.Expect(servedModels(h, "acme")).To(gomega.Equal("service-en@" + newestVersion))

			h.breakModel("none")
			h.updateInstance("acme", func(instance *v1alpha1.Instance) {
				instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"*"}}
			})
			h.waitForConditions("acme", "Ready=True Ready")
			h.Expect(servedModels(h, "acme")).To(gomega.Equal("service-en@"+olderVersion), "a spec change must trigger a retry")
			h.Expect(mustGet(h, "acme", &v1alpha1.Instance{}).Status.Rollout.FailedTemplateHash).To(gomega.BeEmpty())
		})
	}
}

func TestFailedFirstRolloutStallsAndRecovers(t *testing.T) {
	h := newHarness(t)
	h.breakModel(newestVersion)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=False RolloutFailed", "Stalled=True RolloutFailed", "Available=False NoPodReady")
	h.breakModel("none")
	h.waitForConditions("acme", "Ready=True Ready")
}

func TestFailedRolloutReportsPodMessage(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.breakModel(olderVersion)
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	h.waitForConditions("acme", "Stalled=True RolloutFailed")
	h.Expect(h.conditionMessage("acme", "Ready")).To(gomega.MatchRegexp("pod acme-[0-9a-f]+: CrashLoopBackOff back-off 5m0s restarting"))
}

func TestOperatorUpgradeRollsOutServerImageGradually(t *testing.T) {
	h := newHarness(t)
	names := []string{"one", "two", "three"}
	for _, name := range names {
		h.mustCreate(h.newInstance(name))
	}
	for _, name := range names {
		h.waitForConditions(name, "Ready=True Ready")
	}
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = true })
	h.startOperator(nextServerImage)
	moved := func() (moved []string) {
		for _, name := range names {
			if mustGet(h, name, &v1alpha1.Instance{}).Status.Server.Image == nextServerImage {
				moved = append(moved, name)
			}
		}
		return moved
	}
	h.Eventually(moved).Should(gomega.HaveLen(1))
	h.waitUntilIdle()
	h.Expect(moved()).To(gomega.HaveLen(1), "other Instances must wait for the canary")
	for _, name := range names {
		h.Expect(mustGet(h, name, &appsv1.Deployment{}).Spec.Template.Spec.Containers[0].Image).To(gomega.Equal(serverImage), "no pod must change before the preflight check")
	}
	h.cluster.update(func(c *fakeCluster) { c.jobsPaused = false })
	h.Eventually(moved).Should(gomega.HaveLen(3))
	for _, name := range names {
		h.waitForConditions(name, "Ready=True Ready")
		h.Expect(mustGet(h, name, &appsv1.Deployment{}).Spec.Template.Spec.Containers[0].Image).To(gomega.Equal(nextServerImage))
	}
}

func TestServerRolloutHaltsOnFailure(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("one"))
	second := h.newInstance("two")
	second.Spec.Models[0].Version = newestVersion
	h.mustCreate(second)
	h.waitForConditions("one", "Ready=True Ready")
	h.waitForConditions("two", "Ready=True Ready")
	h.cluster.update(func(c *fakeCluster) {
		c.modelsByImage[nextServerImage] = map[string][]string{"service-de": {newestVersion}}
	})
	h.startOperator(nextServerImage)
	h.Eventually(func() []string {
		return slices.Concat(h.conditionLines("one"), h.conditionLines("two"))
	}).Should(gomega.ContainElement("Stalled=True ModelsUnavailable"))
	h.waitUntilIdle()
	var images []string
	for _, name := range []string{"one", "two"} {
		images = append(images, mustGet(h, name, &v1alpha1.Instance{}).Status.Server.Image)
		h.Expect(h.conditionLines(name)).To(gomega.ContainElement("Available=True Serving"))
	}
	h.Expect(images).To(gomega.ConsistOf(serverImage, nextServerImage))

	h.startOperator(serverImage)
	h.waitForConditions("one", "Ready=True Ready")
	h.waitForConditions("two", "Ready=True Ready")
}

func TestOperatorUpgradeKeepsSuspendedInstance(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Suspend = true })
	h.waitForConditions("acme", "Ready=True Suspended")
	h.startOperator(nextServerImage)
	h.waitUntilIdle()
	h.Expect(mustGet(h, "acme", &v1alpha1.Instance{}).Status.Server.Image).To(gomega.Equal(serverImage))
}

func TestCertificateIsRenewedBeforeExpiry(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	first := mustGet(h, "acme-serving-tls", &corev1.Secret{}).Data
	h.Expect(first["ca.crt"]).To(gomega.Equal(mustGet(h, authority.SecretName, &corev1.Secret{}).Data["tls.crt"]))
	if _, err := pki.ValidateKeyPair(pki.KeyPair{Certificate: first["tls.crt"], Key: first["tls.key"]}, first["ca.crt"], time.Now()); err != nil {
		t.Errorf("validating the certificate: %v", err)
	}
	result, err := h.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: h.namespace, Name: "acme"}})
	if days := result.RequeueAfter.Hours() / 24; err != nil || days < 59 || days > 60 {
		t.Errorf("got requeue after %.1f days, %v, want 59 to 60 days", days, err)
	}
	h.clockOffset.Store(int64(65 * 24 * time.Hour))
	h.triggerReconcile("acme")
	h.Eventually(func() []byte { return mustGet(h, "acme-serving-tls", &corev1.Secret{}).Data["tls.crt"] }).ShouldNot(gomega.Equal(first["tls.crt"]))
	h.Expect(mustGet(h, "acme-serving-tls", &corev1.Secret{}).Data["ca.crt"]).To(gomega.Equal(first["ca.crt"]))
	h.Expect(h.templateHashes("acme")).To(gomega.HaveLen(1), "a new certificate must not restart pods")
}

func TestUnreadableCAStallsWhilePodsServe(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	mustUpdate(h, authority.SecretName, &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["tls.key"] = []byte("rubbish") })
	h.waitForConditions("acme", "Ready=False CAInvalid", "Stalled=True CAInvalid", "Available=True Serving")
}

func TestApplicationKeyIsRotatedByDeletingItsSecret(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	secret := mustGet(h, "acme-app-default", &corev1.Secret{})
	first := string(secret.Data["key"])
	h.Expect(first).To(gomega.HaveLen(26))
	h.Expect(string(mustGet(h, "acme-credentials", &corev1.Secret{}).Data["default.json"])).To(gomega.ContainSubstring(first))
	if err := h.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	h.Eventually(func() string {
		h.get("acme-app-default", secret)
		return string(secret.Data["key"])
	}).ShouldNot(gomega.Equal(first))
	h.Eventually(func() string { return string(mustGet(h, "acme-credentials", &corev1.Secret{}).Data["default.json"]) }).
		Should(gomega.And(gomega.ContainSubstring(string(secret.Data["key"])), gomega.Not(gomega.ContainSubstring(first))))
	h.Expect(h.templateHashes("acme")).To(gomega.HaveLen(1), "a new key must not restart pods")
}

func TestUserSuppliedSigningKeysAreKept(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	secret := mustGet(h, "acme-signing-keys", &corev1.Secret{})
	h.Expect(secret.Data).To(gomega.HaveLen(1))
	id, key, err := pki.NewSigningKey(time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(h, "acme-signing-keys", secret, func(secret *corev1.Secret) { secret.Data[id+".pem"] = key })
	h.triggerReconcile("acme")
	h.waitUntilIdle()
	h.Expect(mustGet(h, "acme-signing-keys", &corev1.Secret{}).Data).To(gomega.And(gomega.HaveLen(2), gomega.HaveKeyWithValue(id+".pem", key)))
}

func TestTransientErrorsAreRetried(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.waitUntilIdle()
	h.writes.rejectWrites(func(request *http.Request) error {
		if strings.Contains(request.URL.Path, "/configmaps/") {
			return errors.New("connection refused")
		}
		return nil
	})
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"*"}}
	})
	h.waitForConditions("acme", "Reconciling=True TransientError")
	h.Expect(h.kstatus("acme")).To(gomega.Equal(status.InProgressStatus))
	h.Expect(meta.IsStatusConditionTrue(mustGet(h, "acme", &v1alpha1.Instance{}).Status.Conditions, v1alpha1.ConditionReady)).To(gomega.BeTrue(), "a single error must not change Ready")
	h.clockOffset.Store(int64(3 * time.Minute))
	h.waitForConditions("acme", "Ready=Unknown TransientError", "Reconciling=True TransientError")
	h.writes.rejectWrites(nil)
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(mustGet(h, "acme-config", &corev1.ConfigMap{}).Data["config.yaml"]).To(gomega.ContainSubstring("*"))
}

func TestOperatorReconcilesSelectedInstancesOnly(t *testing.T) {
	h := newHarness(t)
	h.stop()
	h.selector = "team=blue"
	h.startOperator(serverImage)
	blue, red := h.newInstance("blue"), h.newInstance("red")
	blue.Labels, red.Labels = map[string]string{"team": "blue"}, map[string]string{"team": "red"}
	h.mustCreate(red)
	h.mustCreate(blue)
	h.waitForConditions("blue", "Ready=True Ready")
	h.Expect(mustGet(h, "red", &v1alpha1.Instance{}).Status.ObservedGeneration).To(gomega.Equal(int64(-1)))
}

func TestManyInstancesSettleConcurrently(t *testing.T) {
	h := newHarness(t)
	const count = 12
	for i := range count {
		h.mustCreate(h.newInstance(fmt.Sprintf("tenant-%d", i)))
	}
	for i := range count {
		h.waitForConditions(fmt.Sprintf("tenant-%d", i), "Ready=True Ready")
	}
	h.waitUntilIdle()
	before := len(h.writes.all())
	for i := range count {
		h.triggerReconcile(fmt.Sprintf("tenant-%d", i))
	}
	h.waitUntilIdle()
	h.Expect(h.writes.all()).To(gomega.HaveLen(before))
	t.Logf("%d writes for %d Instances until they were ready", before, count)
}

func TestVolumeExpansionIsRequested(t *testing.T) {
	h := newHarness(t)
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: h.namespace}, Provisioner: "test.example/none", AllowVolumeExpansion: ptr.To(true)}
	h.mustCreate(class)
	t.Cleanup(func() {
		if err := h.Delete(context.Background(), class); err != nil {
			t.Error(err)
		}
	})
	instance := h.newInstance("acme")
	instance.Spec.Storage.Embedded.StorageClassName = ptr.To(h.namespace)
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=True Ready")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("2Gi") })
	h.waitForConditions("acme", "Ready=True Ready")
	claim := mustGet(h, "acme-data", &corev1.PersistentVolumeClaim{})
	h.Expect(claim.Spec.Resources.Requests.Storage().String()).To(gomega.Equal("2Gi"))

	claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: mustQuantity("2Gi")}
	if err := h.Status().Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("512Mi") })
	h.waitForConditions("acme", "Stalled=True RejectedByAPIServer", "Available=True Serving")
	h.Expect(h.conditionMessage("acme", "StorageReady")).To(gomega.ContainSubstring("can not be less than"))
}

func TestFailedVolumeExpansionStallsWhilePodsServe(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("2Gi") })
	h.waitForConditions("acme", "Ready=False ForbiddenByAPIServer", "StorageReady=False ForbiddenByAPIServer", "Stalled=True ForbiddenByAPIServer", "Available=True Serving")
	h.Expect(h.conditionMessage("acme", "StorageReady")).To(gomega.ContainSubstring("can be resized"))
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("1Gi") })
	h.waitForConditions("acme", "Ready=True Ready")
}

func TestPinningServedVersionReplacesNoPod(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	before := mustGet(h, "acme", &appsv1.Deployment{})
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = newestVersion })
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(mustGet(h, "acme", &appsv1.Deployment{}).Spec.Template).To(gomega.Equal(before.Spec.Template))
}

func TestUnspecifiedVersionStaysPinned(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.cluster.update(func(c *fakeCluster) {
		c.modelsByImage[serverImage] = map[string][]string{"service-en": {"2027-01-01T00:00:00Z", newestVersion}}
	})
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"*"}}
	})
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(mustGet(h, "acme", &v1alpha1.Instance{}).Status.Models[0].Version).To(gomega.Equal(newestVersion))
}
