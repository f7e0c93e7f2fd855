// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// configuredWebhookCABundle returns the receivers' CA bundle from the configuration of
// acme's server.
func (p *harness) configuredWebhookCABundle() string {
	p.t.Helper()
	if webhooks := p.serverConfig("acme").Webhooks; webhooks != nil {
		return string(webhooks.CA)
	}
	return ""
}

// TestWebhookCABundle checks that only CA certificates reach the configuration. While
// the bundle is invalid, the Instance keeps serving with the last valid one.
func TestWebhookCABundle(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Webhooks = &v1alpha1.Webhooks{CARef: &v1alpha1.CABundleReference{Name: "receivers"}}
	})
	p.waitForConditions("acme", "Ready=True Ready", "WebhooksReady=False ReceiverCANotFound")
	p.Expect(p.configuredWebhookCABundle()).To(gomega.BeEmpty())

	authority, err := pki.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	certificate := string(authority.Certificate)
	key := "-----BEGIN PRIVATE KEY-----\nbm90aGluZw==\n-----END PRIVATE KEY-----\n"
	p.createWatchedSecret("receivers", map[string][]byte{"ca.crt": []byte("ours:\n" + certificate + key)})
	p.waitForConditions("acme", "Ready=True Ready", "WebhooksReady=True WebhooksConfigured")
	p.Eventually(p.configuredWebhookCABundle).Should(gomega.Equal(certificate), "the Secret holds a key next to the certificate, which must not be shown")

	mustUpdate(p, "receivers", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["ca.crt"] = []byte("hunter2!") })
	p.waitForConditions("acme", "Ready=True Ready", "WebhooksReady=False ReceiverCAInvalid")
	p.Expect(p.conditionMessage("acme", "WebhooksReady")).NotTo(gomega.ContainSubstring("hunter2"))
	p.waitUntilIdle()
	p.Expect(p.configuredWebhookCABundle()).To(gomega.Equal(certificate), "what was good last stays")

	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Webhooks = nil })
	p.Eventually(p.configuredWebhookCABundle).Should(gomega.BeEmpty())
	p.Eventually(func() string { return p.conditionMessage("acme", "WebhooksReady") }).Should(gomega.BeEmpty())
	p.Expect(p.templateHashes("acme")).To(gomega.HaveLen(1), "webhooks restart nothing")
}

// operatorCredential returns the operator's credential from acme's credentials Secret.
func (p *harness) operatorCredential() (credential struct {
	ID, Key string
	Keys    []string
	Scopes  []string
},
) {
	p.t.Helper()
	content := mustGet(p, "acme-credentials", &corev1.Secret{}).Data["operator.json"]
	if content != nil {
		if err := json.Unmarshal(content, &credential); err != nil {
			p.t.Fatal(err)
		}
	}
	return credential
}

// TestOperatorIsAnApplication checks that servers have an application for the operator, whose key is kept and rotated like any other and published nowhere else.
func TestOperatorIsAnApplication(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready")
	first := p.operatorCredential()
	p.Expect(first.ID).To(gomega.Equal("operator"))
	p.Expect(first.Key).NotTo(gomega.BeEmpty())
	p.Expect(first.Scopes).To(gomega.ConsistOf("config:read", "config:write"))
	for name := range p.secretContents() {
		if strings.HasPrefix(name, resources.ApplicationSecretName(p.newInstance("acme"), "operator")) {
			t.Errorf("the operator's key is shown in %s", name)
		}
	}
	p.startOperator(serverImage)
	p.waitUntilIdle()
	p.Expect(p.operatorCredential()).To(gomega.Equal(first), "the key is kept")

	p.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Annotations = map[string]string{rotation.Annotation: "keys:1"}
	})
	p.Eventually(func() []string { return p.operatorCredential().Keys }).Should(gomega.HaveLen(1), "another key joins")
}
