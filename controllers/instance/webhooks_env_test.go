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
func (h *harness) configuredWebhookCABundle() string {
	h.t.Helper()
	if webhooks := h.serverConfig("acme").Webhooks; webhooks != nil {
		return string(webhooks.CA)
	}
	return ""
}

// TestWebhookCABundle checks that only CA certificates reach the configuration. While
// the bundle is invalid, the Instance keeps serving with the last valid one.
func TestWebhookCABundle(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Webhooks = &v1alpha1.Webhooks{CARef: &v1alpha1.CABundleReference{Name: "receivers"}}
	})
	h.waitForConditions("acme", "Ready=True Ready", "WebhooksReady=False ReceiverCANotFound")
	h.Expect(h.configuredWebhookCABundle()).To(gomega.BeEmpty())

	authority, err := pki.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	certificate := string(authority.Certificate)
	key := "-----BEGIN PRIVATE KEY-----\nbm90aGluZw==\n-----END PRIVATE KEY-----\n"
	h.createWatchedSecret("receivers", map[string][]byte{"ca.crt": []byte("ours:\n" + certificate + key)})
	h.waitForConditions("acme", "Ready=True Ready", "WebhooksReady=True WebhooksConfigured")
	h.Eventually(h.configuredWebhookCABundle).Should(gomega.Equal(certificate), "the private key in the Secret must not be published")

	mustUpdate(h, "receivers", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["ca.crt"] = []byte("hunter2!") })
	h.waitForConditions("acme", "Ready=True Ready", "WebhooksReady=False ReceiverCAInvalid")
	h.Expect(h.conditionMessage("acme", "WebhooksReady")).NotTo(gomega.ContainSubstring("hunter2"))
	h.waitUntilIdle()
	h.Expect(h.configuredWebhookCABundle()).To(gomega.Equal(certificate), "the last valid value must stay in use")

	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Webhooks = nil })
	h.Eventually(h.configuredWebhookCABundle).Should(gomega.BeEmpty())
	h.Eventually(func() string { return h.conditionMessage("acme", "WebhooksReady") }).Should(gomega.BeEmpty())
	h.Expect(h.templateHashes("acme")).To(gomega.HaveLen(1), "webhook settings must not restart pods")
}

// operatorCredential returns the operator's credential from acme's credentials Secret.
func (h *harness) operatorCredential() (credential struct {
	ID, Key string
	Keys    []string
	Scopes  []string
},
) {
	h.t.Helper()
	content := mustGet(h, "acme-credentials", &corev1.Secret{}).Data["operator.json"]
	if content != nil {
		if err := json.Unmarshal(content, &credential); err != nil {
			h.t.Fatal(err)
		}
	}
	return credential
}

// TestOperatorIsAnApplication checks that servers have an application for the operator,
// with a key that is kept and rotated like any other key but is not published.
func TestOperatorIsAnApplication(t *testing.T) {
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready")
	first := h.operatorCredential()
	h.Expect(first.ID).To(gomega.Equal("operator"))
	h.Expect(first.Key).NotTo(gomega.BeEmpty())
	h.Expect(first.Scopes).To(gomega.ConsistOf("config:read", "config:write"))
	for name := range h.secretContents() {
		if strings.HasPrefix(name, resources.ApplicationSecretName(h.newInstance("acme"), "operator")) {
			t.Errorf("the operator's key is published in %s", name)
		}
	}
	h.startOperator(serverImage)
	h.waitUntilIdle()
	h.Expect(h.operatorCredential()).To(gomega.Equal(first), "the key must not change")

	h.updateInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Annotations = map[string]string{rotation.Annotation: "keys:1"}
	})
	h.Eventually(func() []string { return h.operatorCredential().Keys }).Should(gomega.HaveLen(1), "the next key must be added")
}
