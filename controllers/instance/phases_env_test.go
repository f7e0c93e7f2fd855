// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
)

// An invalid input must never block phases that do not depend on it.

func TestMissingTLSSecretBlocksOnlyDependents(t *testing.T) {
	h := newHarness(t)
	instance := h.newExternalInstance("acme")
	instance.Spec.Applications = []v1alpha1.Application{{Name: "portal"}, {Name: "kiosk"}}
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=True Ready")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "missing"}}
		instance.Spec.Replicas = 3
		instance.Spec.Applications = instance.Spec.Applications[:1]
	})
	h.waitForConditions("acme", "Ready=False TLSSecretNotFound", "Available=True Serving", "StorageReady=True DatabaseConfigured")
	h.Eventually(func() int32 { return ptr.Deref(mustGet(h, "acme", &appsv1.Deployment{}).Spec.Replicas, 0) }).Should(gomega.BeEquivalentTo(3), "scaling")
	h.Eventually(func() bool { return h.get("acme-app-kiosk", &corev1.Secret{}) }).Should(gomega.BeFalse(), "pruning")

	if err := h.Delete(t.Context(), mustGet(h, "acme", &networkingv1.NetworkPolicy{})); err != nil {
		t.Fatal(err)
	}
	h.Eventually(func() bool { return h.get("acme", &networkingv1.NetworkPolicy{}) }).Should(gomega.BeTrue(), "repair")
	h.Expect(h.get("acme-serving-tls", &corev1.Secret{})).To(gomega.BeTrue(), "the served certificate must stay")

	before := mustGet(h, "acme", &appsv1.Deployment{}).Spec.Template.Annotations[resources.DatabaseChecksumAnnotation]
	secret := mustGet(h, "acme-db", &corev1.Secret{})
	secret.Data["url"] = []byte("postgres://acme:new@db/acme?sslmode=verify-full")
	if err := h.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Annotations = map[string]string{"looked-at": "again"} })
	h.Eventually(func() string {
		return mustGet(h, "acme", &appsv1.Deployment{}).Spec.Template.Annotations[resources.DatabaseChecksumAnnotation]
	}).ShouldNot(gomega.Equal(before), "a new database URL")
}

func TestMissingDatabaseSecretDoesNotBlockScaling(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newExternalInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	before := mustGet(h, "acme", &appsv1.Deployment{})
	if err := h.Delete(t.Context(), mustGet(h, "acme-db", &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Replicas = 3 })
	h.waitForConditions("acme", "Ready=False DatabaseSecretNotFound", "StorageReady=False DatabaseSecretNotFound", "Available=True Serving")
	h.Eventually(func() int32 { return ptr.Deref(mustGet(h, "acme", &appsv1.Deployment{}).Spec.Replicas, 0) }).Should(gomega.BeEquivalentTo(3))
	h.Expect(mustGet(h, "acme", &appsv1.Deployment{}).Spec.Template).To(gomega.Equal(before.Spec.Template), "no pod must be replaced")
	h.Expect(h.get("acme", &networkingv1.NetworkPolicy{})).To(gomega.BeTrue(), "the network policy must stay")
	h.waitUntilIdle()
}

// While an Instance is suspended, spec changes are on hold and the running server is
// maintained.

func TestSuspendedInstanceKeepsItsCertificateAndKeys(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Suspend = true
		instance.Spec.Models[0].ID = "service-de"
		instance.Spec.Applications = []v1alpha1.Application{{Name: "portal"}}
		instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "missing"}}
	})
	h.waitForConditions("acme", "Ready=True Suspended", "Available=True Serving")
	certificate := mustGet(h, "acme-serving-tls", &corev1.Secret{}).Data["tls.crt"]
	deployment := mustGet(h, "acme", &appsv1.Deployment{})

	h.clockOffset.Store(int64(80 * 24 * time.Hour))
	if err := h.Delete(t.Context(), mustGet(h, "acme-app-default", &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	h.Eventually(func() bool { return h.get("acme-app-default", &corev1.Secret{}) }).Should(gomega.BeTrue(), "a new key must be generated")
	h.Eventually(func() []byte { return mustGet(h, "acme-serving-tls", &corev1.Secret{}).Data["tls.crt"] }).ShouldNot(gomega.Equal(certificate), "the certificate must be renewed")
	h.Expect(h.get("acme-app-portal", &corev1.Secret{})).To(gomega.BeFalse(), "a spec change must wait")
	h.Expect(mustGet(h, "acme", &appsv1.Deployment{}).Spec).To(gomega.Equal(deployment.Spec))

	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Suspend = false
		instance.Spec.TLS = nil
	})
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(h.get("acme-app-portal", &corev1.Secret{})).To(gomega.BeTrue())
}

func TestSuspendedInstanceReportsObservedState(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Suspend = true })
	h.waitForConditions("acme", "Ready=True Suspended")
	h.cluster.update(func(c *fakeCluster) { c.brokenTemplate = func(corev1.PodTemplateSpec) bool { return true } })
	h.waitForConditions("acme", "Ready=False Suspended", "Available=False NoPodReady")
	h.cluster.update(func(c *fakeCluster) { c.brokenTemplate = func(corev1.PodTemplateSpec) bool { return false } })
	h.waitForConditions("acme", "Ready=True Suspended", "Available=True Serving")
}

func TestSuspendedInstanceReportsStorage(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.mustCreate(h.newExternalInstance("other"))
	for _, name := range []string{"acme", "other"} {
		h.waitForConditions(name, "Ready=True Ready")
		h.updateInstance(name, func(instance *v1alpha1.Instance) { instance.Spec.Suspend = true })
		h.waitForConditions(name, "Ready=True Suspended", "StorageReady=True "+map[string]string{"acme": "VolumeBound", "other": "DatabaseConfigured"}[name])
	}
	h.waitUntilIdle()
	before := h.writes.all()
	h.cluster.update(func(c *fakeCluster) { c.volumesPending = true })
	h.waitForConditions("acme", "Ready=True Suspended", "StorageReady=False VolumePending", "Available=True Serving")
	if err := h.Delete(t.Context(), mustGet(h, "other-db", &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	h.waitForConditions("other", "Ready=False Suspended", "StorageReady=False DatabaseSecretNotFound", "Available=True Serving")
	h.cluster.update(func(c *fakeCluster) { c.volumesPending = false })
	h.waitForConditions("acme", "Ready=True Suspended", "StorageReady=True VolumeBound")
	h.waitUntilIdle()
	for _, write := range h.writes.all()[len(before):] {
		if !strings.HasSuffix(write, "/status") {
			t.Errorf("unexpected write %s for a suspended Instance", write)
		}
	}
}
