// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// These tests cover the Secrets, CA bundles and URLs that are published to clients.

func TestClientsGetURLKeyAndCABundle(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	authority := mustGet(h, "acme-serving-tls", &corev1.Secret{}).Data["ca.crt"]
	published := mustGet(h, "acme-app-default", &corev1.Secret{}).Data
	h.Expect(published).To(gomega.HaveLen(4))
	h.Expect(published).To(gomega.HaveKeyWithValue("url", []byte("https://acme."+h.namespace+".svc")))
	h.Expect(published).To(gomega.HaveKeyWithValue("id", []byte("default")))
	h.Expect(published).To(gomega.HaveKeyWithValue("ca.crt", authority))
	h.Expect(mustGet(h, "acme-ca", &corev1.ConfigMap{}).Data).To(gomega.Equal(map[string]string{"ca.crt": string(authority)}))

	pair, own := newTLSPair(t, time.Now())
	h.createWatchedSecret("public", map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key})
	h.createWatchedSecret("own", map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key, "ca.crt": own})
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "own"}}
	})
	h.Eventually(func() map[string][]byte { return mustGet(h, "acme-app-default", &corev1.Secret{}).Data }).Should(gomega.HaveKeyWithValue("ca.crt", own))
	h.Eventually(func() map[string]string { return mustGet(h, "acme-ca", &corev1.ConfigMap{}).Data }).Should(gomega.HaveKeyWithValue("ca.crt", string(own)))
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS.SecretRef.Name = "public" })
	h.Eventually(func() map[string][]byte { return mustGet(h, "acme-app-default", &corev1.Secret{}).Data }).ShouldNot(gomega.HaveKey("ca.crt"))
	h.Eventually(func() bool { return h.get("acme-ca", &corev1.ConfigMap{}) }).Should(gomega.BeFalse(), "a public CA must not be published")
	h.Expect(mustGet(h, "acme-app-default", &corev1.Secret{}).Data["key"]).To(gomega.Equal(published["key"]))
}

// TestClientSecretsArePublishedWithoutCertificate checks that clients trust the CA of
// the certificate in use.
func TestClientSecretsArePublishedWithoutCertificate(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "missing"}}
	})
	h.waitForConditions("acme", "Ready=False TLSSecretNotFound")
	h.waitUntilIdle()
	served := mustGet(h, "acme-serving-tls", &corev1.Secret{}).Data["ca.crt"]
	h.Expect(served).NotTo(gomega.BeEmpty())
	h.Expect(mustGet(h, "acme-app-default", &corev1.Secret{}).Data).To(gomega.HaveKeyWithValue("ca.crt", served))
	h.Expect(h.get("acme-ca", &corev1.ConfigMap{})).To(gomega.BeTrue())
}

func TestPublicURLChangeRestartsNoPod(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	uid := mustGet(h, "acme", &v1alpha1.Instance{}).UID
	h.Expect(h.serverConfig("acme")).To(gomega.Equal(&configv1alpha1.ServerConfiguration{
		CORS:     configv1alpha1.CORS{AllowedOrigins: []string{}},
		Instance: &configv1alpha1.Instance{UID: string(uid)},
	}))
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: "0d7c1e52"}
		instance.Spec.URL = "https://acme.example"
		instance.Spec.TrustedProxies = []v1alpha1.CIDR{"10.0.0.0/8"}
	})
	h.Eventually(func() string { return mustGet(h, "acme", &v1alpha1.Instance{}).Status.URL }).Should(gomega.Equal("https://acme.example"))
	h.Eventually(func() map[string][]byte { return mustGet(h, "acme-app-default", &corev1.Secret{}).Data }).Should(gomega.HaveKeyWithValue("url", []byte("https://acme.example")))
	h.Expect(h.serverConfig("acme")).To(gomega.Equal(&configv1alpha1.ServerConfiguration{
		CORS:     configv1alpha1.CORS{AllowedOrigins: []string{}},
		Instance: &configv1alpha1.Instance{Adopts: []configv1alpha1.Text{"0d7c1e52"}, UID: string(uid)},
		Proxies:  []string{"10.0.0.0/8"},
		URL:      "https://acme.example",
	}))
	h.waitForConditions("acme", "Ready=True Ready")
	h.Expect(h.templateHashes("acme")).To(gomega.HaveLen(1), "a URL change must not restart pods")
	h.clearStatus("acme")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Suspend = true })
	h.Eventually(func() string { return mustGet(h, "acme", &v1alpha1.Instance{}).Status.URL }).Should(gomega.Equal("https://acme.example"))
}

// serverConfig returns the configuration that an Instance's server reloads.
func (h *harness) serverConfig(name string) *configv1alpha1.ServerConfiguration {
	h.t.Helper()
	file := mustGet(h, name+"-config", &corev1.ConfigMap{}).Data["config.yaml"]
	config, err := configv1alpha1.DecodeStrict([]byte(file))
	if err != nil {
		h.t.Fatal(err)
	}
	return config
}
