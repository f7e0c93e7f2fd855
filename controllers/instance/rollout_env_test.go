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

// breakModel keeps pods from becoming ready if their models include a version.
func (p *harness) breakModel(version string) {
	p.cluster.update(func(w *fakeCluster) {
		w.brokenTemplate = func(template corev1.PodTemplateSpec) bool {
			return strings.Contains(template.Annotations[resources.ModelsAnnotation], version)
		}
	})
}

func servedModels(p *harness, name string) string {
	return mustGet(p, name, &appsv1.Deployment{}).Spec.Template.Annotations[resources.ModelsAnnotation]
}

// templateHashes returns the pod templates that an Instance's Deployment has had. The
// generation is unsuitable because it increases with every annotation.
func (p *harness) templateHashes(name string) []string {
	p.t.Helper()
	var sets appsv1.ReplicaSetList
	if err := p.List(p.t.Context(), &sets, client.InNamespace(p.namespace), client.MatchingLabels{resources.InstanceLabel: name}); err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, set := range sets.Items {
		names = append(names, set.Spec.Template.Annotations[resources.TemplateHashAnnotation])
	}
	return names
}

func TestFailedRolloutIsRolledBack(t *testing.T) {
	for name, build := range map[string]func(*harness) *v1alpha1.Instance{
		"surge":    func(p *harness) *v1alpha1.Instance { return p.newExternalInstance("acme") },
		"recreate": func(p *harness) *v1alpha1.Instance { return p.newInstance("acme") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newHarness(t)
			p.breakModel(olderVersion)
			p.mustCreate(build(p))
			p.waitForConditions("acme", "Ready=True Ready")

			p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
			p.waitForConditions("acme", "Ready=False RolloutFailed", "Stalled=True RolloutFailed", "Available=True Serving")
			p.Expect(p.kstatus("acme")).To(gomega.Equal(status.FailedStatus))
			p.Eventually(func() string { return servedModels(p, "acme") }).Should(gomega.Equal("service-en@" + newestVersion))
			p.Expect(p.conditionMessage("acme", "Ready")).To(gomega.ContainSubstring("rolled back"))
			p.expectNoWritesWhenSettled("acme")
			p.Expect(servedModels(p, "acme")).To(gomega.Equal("service-en@" + newestVersion))

			p.breakModel("none")
			p.updateInstance("acme", func(instance *v1alpha1.Instance) {
				instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"*"}}
			})
			p.waitForConditions("acme", "Ready=True Ready")
			p.Expect(servedModels(p, "acme")).To(gomega.Equal("service-en@"+olderVersion), "a change of the spec tries again")
			p.Expect(mustGet(p, "acme", &v1alpha1.Instance{}).Status.Rollout.Failed).To(gomega.BeEmpty())
		})
	}
}

func TestFailedFirstRolloutStallsAndRecovers(t *testing.T) {
	p := newHarness(t)
	p.breakModel(newestVersion)
	p.mustCreate(p.newExternalInstance("acme"))
	p.waitForConditions("acme", "Ready=False RolloutFailed", "Stalled=True RolloutFailed", "Available=False NoPodReady")
	p.breakModel("none")
	p.waitForConditions("acme", "Ready=True Ready")
}

func TestFailedRolloutReportsPodMessage(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newExternalInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.breakModel(olderVersion)
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = olderVersion })
	p.waitForConditions("acme", "Stalled=True RolloutFailed")
	p.Expect(p.conditionMessage("acme", "Ready")).To(gomega.MatchRegexp("pod acme-[0-9a-f]+: CrashLoopBackOff back-off 5m0s restarting"))
}

func TestOperatorUpgradeRollsOutServerImageGradually(t *testing.T) {
	p := newHarness(t)
	names := []string{"one", "two", "three"}
	for _, name := range names {
		p.mustCreate(p.newInstance(name))
	}
	for _, name := range names {
		p.waitForConditions(name, "Ready=True Ready")
	}
	p.cluster.update(func(w *fakeCluster) { w.jobsPaused = true })
	p.startOperator(nextServerImage)
	moved := func() (moved []string) {
		for _, name := range names {
			if mustGet(p, name, &v1alpha1.Instance{}).Status.Server.Image == nextServerImage {
				moved = append(moved, name)
			}
		}
		return moved
	}
	p.Eventually(moved).Should(gomega.HaveLen(1))
	p.waitUntilIdle()
	p.Expect(moved()).To(gomega.HaveLen(1), "the next one waits for the first")
	for _, name := range names {
		p.Expect(mustGet(p, name, &appsv1.Deployment{}).Spec.Template.Spec.Containers[0].Image).To(gomega.Equal(serverImage), "no pod is touched before the preflight")
	}
	p.cluster.update(func(w *fakeCluster) { w.jobsPaused = false })
	p.Eventually(moved).Should(gomega.HaveLen(3))
	for _, name := range names {
		p.waitForConditions(name, "Ready=True Ready")
		p.Expect(mustGet(p, name, &appsv1.Deployment{}).Spec.Template.Spec.Containers[0].Image).To(gomega.Equal(nextServerImage))
	}
}

func TestServerRolloutHaltsOnFailure(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("one"))
	second := p.newInstance("two")
	second.Spec.Models[0].Version = newestVersion
	p.mustCreate(second)
	p.waitForConditions("one", "Ready=True Ready")
	p.waitForConditions("two", "Ready=True Ready")
	p.cluster.update(func(w *fakeCluster) {
		w.modelsByImage[nextServerImage] = map[string][]string{"service-de": {newestVersion}}
	})
	p.startOperator(nextServerImage)
	p.Eventually(func() []string {
		return slices.Concat(p.conditionLines("one"), p.conditionLines("two"))
	}).Should(gomega.ContainElement("Stalled=True ModelsUnavailable"))
	p.waitUntilIdle()
	var images []string
	for _, name := range []string{"one", "two"} {
		images = append(images, mustGet(p, name, &v1alpha1.Instance{}).Status.Server.Image)
		p.Expect(p.conditionLines(name)).To(gomega.ContainElement("Available=True Serving"))
	}
	p.Expect(images).To(gomega.ConsistOf(serverImage, nextServerImage))

	p.startOperator(serverImage)
	p.waitForConditions("one", "Ready=True Ready")
	p.waitForConditions("two", "Ready=True Ready")
}

func TestOperatorUpgradeKeepsSuspendedInstance(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Suspend = true })
	p.waitForConditions("acme", "Ready=True Suspended")
	p.startOperator(nextServerImage)
	p.waitUntilIdle()
	p.Expect(mustGet(p, "acme", &v1alpha1.Instance{}).Status.Server.Image).To(gomega.Equal(serverImage))
}

func TestCertificateIsRenewedBeforeExpiry(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	first := mustGet(p, "acme-serving-tls", &corev1.Secret{}).Data
	p.Expect(first["ca.crt"]).To(gomega.Equal(mustGet(p, authority.SecretName, &corev1.Secret{}).Data["tls.crt"]))
	if _, err := pki.ValidateKeyPair(pki.KeyPair{Certificate: first["tls.crt"], Key: first["tls.key"]}, first["ca.crt"], time.Now()); err != nil {
		t.Errorf("the certificate is not good: %v", err)
	}
	result, err := p.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: p.namespace, Name: "acme"}})
	if days := result.RequeueAfter.Hours() / 24; err != nil || days < 59 || days > 60 {
		t.Errorf("the next visit is due in %.1f days, %v", days, err)
	}
	p.clockOffset.Store(int64(65 * 24 * time.Hour))
	p.triggerReconcile("acme")
	p.Eventually(func() []byte { return mustGet(p, "acme-serving-tls", &corev1.Secret{}).Data["tls.crt"] }).ShouldNot(gomega.Equal(first["tls.crt"]))
	p.Expect(mustGet(p, "acme-serving-tls", &corev1.Secret{}).Data["ca.crt"]).To(gomega.Equal(first["ca.crt"]))
	p.Expect(p.templateHashes("acme")).To(gomega.HaveLen(1), "a certificate restarts nothing")
}

func TestUnreadableCAStallsWhilePodsServe(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	mustUpdate(p, authority.SecretName, &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["tls.key"] = []byte("rubbish") })
	p.waitForConditions("acme", "Ready=False CAInvalid", "Stalled=True CAInvalid", "Available=True Serving")
}

func TestApplicationKeyIsRotatedByDeletingItsSecret(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	secret := mustGet(p, "acme-app-default", &corev1.Secret{})
	first := string(secret.Data["key"])
	p.Expect(first).To(gomega.HaveLen(26))
	p.Expect(string(mustGet(p, "acme-credentials", &corev1.Secret{}).Data["default.json"])).To(gomega.ContainSubstring(first))
	if err := p.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	p.Eventually(func() string {
		p.get("acme-app-default", secret)
		return string(secret.Data["key"])
	}).ShouldNot(gomega.Equal(first))
	p.Eventually(func() string { return string(mustGet(p, "acme-credentials", &corev1.Secret{}).Data["default.json"]) }).
		Should(gomega.And(gomega.ContainSubstring(string(secret.Data["key"])), gomega.Not(gomega.ContainSubstring(first))))
	p.Expect(p.templateHashes("acme")).To(gomega.HaveLen(1), "a key restarts nothing")
}

func TestUserSuppliedSigningKeysAreKept(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	secret := mustGet(p, "acme-signing-keys", &corev1.Secret{})
	p.Expect(secret.Data).To(gomega.HaveLen(1))
	id, key, err := pki.NewSigningKey(time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(p, "acme-signing-keys", secret, func(secret *corev1.Secret) { secret.Data[id+".pem"] = key })
	p.triggerReconcile("acme")
	p.waitUntilIdle()
	p.Expect(mustGet(p, "acme-signing-keys", &corev1.Secret{}).Data).To(gomega.And(gomega.HaveLen(2), gomega.HaveKeyWithValue(id+".pem", key)))
}

func TestTransientErrorsAreRetried(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.waitUntilIdle()
	p.writes.rejectWrites(func(request *http.Request) error {
		if strings.Contains(request.URL.Path, "/configmaps/") {
			return errors.New("connection refused")
		}
		return nil
	})
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"*"}}
	})
	p.waitForConditions("acme", "Reconciling=True TransientError")
	p.Expect(p.kstatus("acme")).To(gomega.Equal(status.InProgressStatus))
	p.Expect(meta.IsStatusConditionTrue(mustGet(p, "acme", &v1alpha1.Instance{}).Status.Conditions, v1alpha1.ConditionReady)).To(gomega.BeTrue(), "one error says little")
	p.clockOffset.Store(int64(3 * time.Minute))
	p.waitForConditions("acme", "Ready=Unknown TransientError", "Reconciling=True TransientError")
	p.writes.rejectWrites(nil)
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(mustGet(p, "acme-config", &corev1.ConfigMap{}).Data["config.yaml"]).To(gomega.ContainSubstring("*"))
}

func TestOperatorReconcilesSelectedInstancesOnly(t *testing.T) {
	p := newHarness(t)
	p.stop()
	p.selector = "team=blue"
	p.startOperator(serverImage)
	blue, red := p.newInstance("blue"), p.newInstance("red")
	blue.Labels, red.Labels = map[string]string{"team": "blue"}, map[string]string{"team": "red"}
	p.mustCreate(red)
	p.mustCreate(blue)
	p.waitForConditions("blue", "Ready=True Ready")
	p.Expect(mustGet(p, "red", &v1alpha1.Instance{}).Status.ObservedGeneration).To(gomega.Equal(int64(-1)))
}

func TestManyInstancesSettleConcurrently(t *testing.T) {
	p := newHarness(t)
	const count = 12
	for i := range count {
		p.mustCreate(p.newInstance(fmt.Sprintf("tenant-%d", i)))
	}
	for i := range count {
		p.waitForConditions(fmt.Sprintf("tenant-%d", i), "Ready=True Ready")
	}
	p.waitUntilIdle()
	before := len(p.writes.all())
	for i := range count {
		p.triggerReconcile(fmt.Sprintf("tenant-%d", i))
	}
	p.waitUntilIdle()
	p.Expect(p.writes.all()).To(gomega.HaveLen(before))
	t.Logf("%d writes for %d Instances until they were ready", before, count)
}

func TestVolumeExpansionIsRequested(t *testing.T) {
	p := newHarness(t)
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: p.namespace}, Provisioner: "test.example/none", AllowVolumeExpansion: ptr.To(true)}
	p.mustCreate(class)
	t.Cleanup(func() {
		if err := p.Delete(context.Background(), class); err != nil {
			t.Error(err)
		}
	})
	instance := p.newInstance("acme")
	instance.Spec.Storage.Embedded.StorageClassName = ptr.To(p.namespace)
	p.mustCreate(instance)
	p.waitForConditions("acme", "Ready=True Ready")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("2Gi") })
	p.waitForConditions("acme", "Ready=True Ready")
	claim := mustGet(p, "acme-data", &corev1.PersistentVolumeClaim{})
	p.Expect(claim.Spec.Resources.Requests.Storage().String()).To(gomega.Equal("2Gi"))

	claim.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: mustQuantity("2Gi")}
	if err := p.Status().Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("512Mi") })
	p.waitForConditions("acme", "Stalled=True RejectedByAPIServer", "Available=True Serving")
	p.Expect(p.conditionMessage("acme", "StorageReady")).To(gomega.ContainSubstring("can not be less than"))
}

func TestFailedVolumeExpansionStallsWhilePodsServe(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("2Gi") })
	p.waitForConditions("acme", "Ready=False ForbiddenByAPIServer", "StorageReady=False ForbiddenByAPIServer", "Stalled=True ForbiddenByAPIServer", "Available=True Serving")
	p.Expect(p.conditionMessage("acme", "StorageReady")).To(gomega.ContainSubstring("can be resized"))
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Storage.Embedded.Size = mustQuantity("1Gi") })
	p.waitForConditions("acme", "Ready=True Ready")
}

func TestPinningServedVersionReplacesNoPod(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	before := mustGet(p, "acme", &appsv1.Deployment{})
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Models[0].Version = newestVersion })
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(mustGet(p, "acme", &appsv1.Deployment{}).Spec.Template).To(gomega.Equal(before.Spec.Template))
}

func TestUnspecifiedVersionStaysPinned(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.cluster.update(func(w *fakeCluster) {
		w.modelsByImage[serverImage] = map[string][]string{"service-en": {"2027-01-01T00:00:00Z", newestVersion}}
	})
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.CORS = &v1alpha1.CORS{AllowedOrigins: []string{"*"}}
	})
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(mustGet(p, "acme", &v1alpha1.Instance{}).Status.Models[0].Version).To(gomega.Equal(newestVersion))
}
