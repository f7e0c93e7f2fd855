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

// These tests cover the information that clients get and the Instance's address.

func TestClientsGetURLKeyAndCABundle(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	authority := mustGet(p, "acme-serving-tls", &corev1.Secret{}).Data["ca.crt"]
	told := mustGet(p, "acme-app-default", &corev1.Secret{}).Data
	p.Expect(told).To(gomega.HaveLen(4))
	p.Expect(told).To(gomega.HaveKeyWithValue("url", []byte("https://acme."+p.namespace+".svc")))
	p.Expect(told).To(gomega.HaveKeyWithValue("id", []byte("default")))
	p.Expect(told).To(gomega.HaveKeyWithValue("ca.crt", authority))
	p.Expect(mustGet(p, "acme-ca", &corev1.ConfigMap{}).Data).To(gomega.Equal(map[string]string{"ca.crt": string(authority)}))

	pair, own := newTLSPair(t, time.Now())
	p.createWatchedSecret("public", map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key})
	p.createWatchedSecret("own", map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key, "ca.crt": own})
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "own"}}
	})
	p.Eventually(func() map[string][]byte { return mustGet(p, "acme-app-default", &corev1.Secret{}).Data }).Should(gomega.HaveKeyWithValue("ca.crt", own))
	p.Eventually(func() map[string]string { return mustGet(p, "acme-ca", &corev1.ConfigMap{}).Data }).Should(gomega.HaveKeyWithValue("ca.crt", string(own)))
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.TLS.SecretRef.Name = "public" })
	p.Eventually(func() map[string][]byte { return mustGet(p, "acme-app-default", &corev1.Secret{}).Data }).ShouldNot(gomega.HaveKey("ca.crt"))
	p.Eventually(func() bool { return p.get("acme-ca", &corev1.ConfigMap{}) }).Should(gomega.BeFalse(), "who is trusted by all needs no telling")
	p.Expect(mustGet(p, "acme-app-default", &corev1.Secret{}).Data["key"]).To(gomega.Equal(told["key"]))
}

// TestClientSecretsArePublishedWithoutCertificate checks that clients trust the CA of
// the certificate in use.
func TestClientSecretsArePublishedWithoutCertificate(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.TLS = &v1alpha1.TLS{SecretRef: v1alpha1.SecretReference{Name: "missing"}}
	})
	p.waitForConditions("acme", "Ready=False TLSSecretNotFound")
	p.waitUntilIdle()
	served := mustGet(p, "acme-serving-tls", &corev1.Secret{}).Data["ca.crt"]
	p.Expect(served).NotTo(gomega.BeEmpty())
	p.Expect(mustGet(p, "acme-app-default", &corev1.Secret{}).Data).To(gomega.HaveKeyWithValue("ca.crt", served))
	p.Expect(p.get("acme-ca", &corev1.ConfigMap{})).To(gomega.BeTrue())
}

func TestPublicURLChangeRestartsNoPod(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	uid := mustGet(p, "acme", &v1alpha1.Instance{}).UID
	p.Expect(p.serverConfig("acme")).To(gomega.Equal(&configv1alpha1.ServerConfiguration{
		CORS:     configv1alpha1.CORS{AllowedOrigins: []string{}},
		Instance: &configv1alpha1.Instance{UID: string(uid)},
	}))
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Annotations = map[string]string{v1alpha1.AdoptAnnotation: "0d7c1e52"}
		instance.Spec.URL = "https://acme.example"
		instance.Spec.TrustedProxies = []v1alpha1.CIDR{"10.0.0.0/8"}
	})
	p.Eventually(func() string { return mustGet(p, "acme", &v1alpha1.Instance{}).Status.URL }).Should(gomega.Equal("https://acme.example"))
	p.Eventually(func() map[string][]byte { return mustGet(p, "acme-app-default", &corev1.Secret{}).Data }).Should(gomega.HaveKeyWithValue("url", []byte("https://acme.example")))
	p.Expect(p.serverConfig("acme")).To(gomega.Equal(&configv1alpha1.ServerConfiguration{
		CORS:     configv1alpha1.CORS{AllowedOrigins: []string{}},
		Instance: &configv1alpha1.Instance{Adopts: []configv1alpha1.Text{"0d7c1e52"}, UID: string(uid)},
		Proxies:  []string{"10.0.0.0/8"},
		URL:      "https://acme.example",
	}))
	p.waitForConditions("acme", "Ready=True Ready")
	p.Expect(p.templateHashes("acme")).To(gomega.HaveLen(1), "an address restarts nothing")
	p.clearStatus("acme")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Suspend = true })
	p.Eventually(func() string { return mustGet(p, "acme", &v1alpha1.Instance{}).Status.URL }).Should(gomega.Equal("https://acme.example"))
}

// serverConfig returns the configuration that an Instance's server reloads.
func (p *harness) serverConfig(name string) *configv1alpha1.ServerConfiguration {
	p.t.Helper()
	file := mustGet(p, name+"-config", &corev1.ConfigMap{}).Data["config.yaml"]
	config, err := configv1alpha1.DecodeStrict([]byte(file))
	if err != nil {
		p.t.Fatal(err)
	}
	return config
}
