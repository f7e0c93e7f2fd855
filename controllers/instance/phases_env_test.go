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
	p := newHarness(t)
	instance := p.newExternalInstance("acme")
	instance.Spec.Applications = []v1alpha1.Application{{Name: "portal"}, {Name: "kiosk"}}
	p.mustCreate(instance)
	p.waitForConditions("acme", "Ready=True Ready")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "missing"}}
		instance.Spec.Replicas = 3
		instance.Spec.Applications = instance.Spec.Applications[:1]
	})
	p.waitForConditions("acme", "Ready=False TLSSecretNotFound", "Available=True Serving", "StorageReady=True DatabaseConfigured")
	p.Eventually(func() int32 { return ptr.Deref(mustGet(p, "acme", &appsv1.Deployment{}).Spec.Replicas, 0) }).Should(gomega.BeEquivalentTo(3), "scaling")
	p.Eventually(func() bool { return p.get("acme-app-kiosk", &corev1.Secret{}) }).Should(gomega.BeFalse(), "pruning")

	if err := p.Delete(t.Context(), mustGet(p, "acme", &networkingv1.NetworkPolicy{})); err != nil {
		t.Fatal(err)
	}
	p.Eventually(func() bool { return p.get("acme", &networkingv1.NetworkPolicy{}) }).Should(gomega.BeTrue(), "repair")
	p.Expect(p.get("acme-serving-tls", &corev1.Secret{})).To(gomega.BeTrue(), "the certificate that is served stays")

	before := mustGet(p, "acme", &appsv1.Deployment{}).Spec.Template.Annotations[resources.DatabaseChecksumAnnotation]
	secret := mustGet(p, "acme-db", &corev1.Secret{})
	secret.Data["url"] = []byte("postgres://acme:new@db/acme?sslmode=verify-full")
	if err := p.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Annotations = map[string]string{"looked-at": "again"} })
	p.Eventually(func() string {
		return mustGet(p, "acme", &appsv1.Deployment{}).Spec.Template.Annotations[resources.DatabaseChecksumAnnotation]
	}).ShouldNot(gomega.Equal(before), "a new database URL")
}

func TestMissingDatabaseSecretDoesNotBlockScaling(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newExternalInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	before := mustGet(p, "acme", &appsv1.Deployment{})
	if err := p.Delete(t.Context(), mustGet(p, "acme-db", &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Replicas = 3 })
	p.waitForConditions("acme", "Ready=False DatabaseSecretNotFound", "StorageReady=False DatabaseSecretNotFound", "Available=True Serving")
	p.Eventually(func() int32 { return ptr.Deref(mustGet(p, "acme", &appsv1.Deployment{}).Spec.Replicas, 0) }).Should(gomega.BeEquivalentTo(3))
	p.Expect(mustGet(p, "acme", &appsv1.Deployment{}).Spec.Template).To(gomega.Equal(before.Spec.Template), "no pod is replaced")
	p.Expect(p.get("acme", &networkingv1.NetworkPolicy{})).To(gomega.BeTrue(), "the pods stay behind their policy")
	p.waitUntilIdle()
}

// While an Instance is suspended, spec changes are on hold and the running server is
// maintained.

func TestSuspendedInstanceKeepsItsCertificateAndKeys(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Suspend = true
		instance.Spec.Models[0].ID = "service-de"
		instance.Spec.Applications = []v1alpha1.Application{{Name: "portal"}}
		instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "missing"}}
	})
	p.waitForConditions("acme", "Ready=True Suspended", "Available=True Serving")
	certificate := mustGet(p, "acme-serving-tls", &corev1.Secret{}).Data["tls.crt"]
	deployment := mustGet(p, "acme", &appsv1.Deployment{})

	p.clockOffset.Store(int64(80 * 24 * time.Hour))
	if err := p.Delete(t.Context(), mustGet(p, "acme-app-default", &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	p.Eventually(func() bool { return p.get("acme-app-default", &corev1.Secret{}) }).Should(gomega.BeTrue(), "a new key is generated")
	p.Eventually(func() []byte { return mustGet(p, "acme-serving-tls", &corev1.Secret{}).Data["tls.crt"] }).ShouldNot(gomega.Equal(certificate), "the certificate is renewed")
	p.Expect(p.get("acme-app-portal", &corev1.Secret{})).To(gomega.BeFalse(), "a change of the spec waits")
	p.Expect(mustGet(p, "acme", &appsv1.Deployment{}).Spec).To(gomega.Equal(deployment.Spec))

	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Suspend = false
		instance.Spec.TLS = nil
	})
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(p.get("acme-app-portal", &corev1.Secret{})).To(gomega.BeTrue())
}

func TestSuspendedInstanceReportsObservedState(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Suspend = true })
	p.waitForConditions("acme", "Ready=True Suspended")
	p.cluster.update(func(w *fakeCluster) { w.brokenTemplate = func(corev1.PodTemplateSpec) bool { return true } })
	p.waitForConditions("acme", "Ready=False Suspended", "Available=False NoPodReady")
	p.cluster.update(func(w *fakeCluster) { w.brokenTemplate = func(corev1.PodTemplateSpec) bool { return false } })
	p.waitForConditions("acme", "Ready=True Suspended", "Available=True Serving")
}

func TestSuspendedInstanceReportsStorage(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.mustCreate(p.newExternalInstance("other"))
	for _, name := range []string{"acme", "other"} {
		p.waitForConditions(name, "Ready=True Ready")
		p.updateInstance(name, func(instance *v1alpha1.Instance) { instance.Spec.Suspend = true })
		p.waitForConditions(name, "Ready=True Suspended", "StorageReady=True "+map[string]string{"acme": "VolumeBound", "other": "DatabaseConfigured"}[name])
	}
	p.waitUntilIdle()
	before := p.writes.all()
	p.cluster.update(func(w *fakeCluster) { w.volumesPending = true })
	p.waitForConditions("acme", "Ready=True Suspended", "StorageReady=False VolumePending", "Available=True Serving")
	if err := p.Delete(t.Context(), mustGet(p, "other-db", &corev1.Secret{})); err != nil {
		t.Fatal(err)
	}
	p.waitForConditions("other", "Ready=False Suspended", "StorageReady=False DatabaseSecretNotFound", "Available=True Serving")
	p.cluster.update(func(w *fakeCluster) { w.volumesPending = false })
	p.waitForConditions("acme", "Ready=True Suspended", "StorageReady=True VolumeBound")
	p.waitUntilIdle()
	for _, write := range p.writes.all()[len(before):] {
		if !strings.HasSuffix(write, "/status") {
			t.Errorf("%s: the operator wrote for a suspended Instance", write)
		}
	}
}
