// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/resources"
	"github.com/anamnesis-dev/anamnesis/controllers/instance/rotation"
	"github.com/anamnesis-dev/anamnesis/controllers/pki"
)

// configuredAuthorities are those of receivers in what the server of acme reads.
func (p *platform) configuredAuthorities() string {
	p.t.Helper()
	var config struct {
		Webhooks struct {
			CA string `json:"ca"`
		} `json:"webhooks"`
	}
	text := read(p, "acme-config", &corev1.ConfigMap{}).Data["config.yaml"]
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		p.t.Fatal(err)
	}
	return config.Webhooks.CA
}

// TestAuthoritiesOfReceivers come into the configuration, and nothing with them;
// while something is wrong with them the Instance serves, with what was good last.
func TestAuthoritiesOfReceivers(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Spec.Webhooks = &v1alpha1.Webhooks{CARef: &v1alpha1.CertificateReference{Name: "receivers"}}
	})
	p.reaches("acme", "Ready=True Ready", "WebhooksReady=False ReceiverAuthorityNotFound")
	p.Expect(p.configuredAuthorities()).To(gomega.BeEmpty())

	authority, err := pki.NewAuthority(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	certificate := string(authority.Certificate)
	key := "-----BEGIN PRIVATE KEY-----\nbm90aGluZw==\n-----END PRIVATE KEY-----\n"
	p.createWatched("receivers", map[string][]byte{"ca.crt": []byte("ours:\n" + certificate + key)})
	p.reaches("acme", "Ready=True Ready", "WebhooksReady=True WebhooksConfigured")
	p.Eventually(p.configuredAuthorities).Should(gomega.Equal(certificate), "a key was put beside the certificate, and must not be shown")

	edit(p, "receivers", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["ca.crt"] = []byte("hunter2!") })
	p.reaches("acme", "Ready=True Ready", "WebhooksReady=False ReceiverAuthorityInvalid")
	p.Expect(p.message("acme", "WebhooksReady")).NotTo(gomega.ContainSubstring("hunter2"))
	p.settle()
	p.Expect(p.configuredAuthorities()).To(gomega.Equal(certificate), "what was good last stays")

	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Webhooks = nil })
	p.Eventually(p.configuredAuthorities).Should(gomega.BeEmpty())
	p.Eventually(func() string { return p.message("acme", "WebhooksReady") }).Should(gomega.BeEmpty())
	p.Expect(p.templates("acme")).To(gomega.HaveLen(1), "webhooks restart nothing")
}

// operatorCredential is what the server of acme knows of the operator.
func (p *platform) operatorCredential() (credential struct {
	ID, Key string
	Keys    []string
	Scopes  []string
},
) {
	p.t.Helper()
	content := read(p, "acme-credentials", &corev1.Secret{}).Data["operator.json"]
	if content != nil {
		if err := json.Unmarshal(content, &credential); err != nil {
			p.t.Fatal(err)
		}
	}
	return credential
}

// TestOperatorIsAnApplication of servers that have webhooks: its key is kept and
// turned as those of others are, and shown to nobody.
func TestOperatorIsAnApplication(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	first := p.operatorCredential()
	p.Expect(first.ID).To(gomega.Equal("operator"))
	p.Expect(first.Key).NotTo(gomega.BeEmpty())
	p.Expect(first.Scopes).To(gomega.ConsistOf("config:read", "config:write"))
	for name := range p.secrets() {
		if strings.HasPrefix(name, resources.ApplicationSecretName(p.instance("acme"), "operator")) {
			t.Errorf("the operator's key is shown in %s", name)
		}
	}
	p.startOperator(serverImage)
	p.settle()
	p.Expect(p.operatorCredential()).To(gomega.Equal(first), "the key is kept")

	p.pinTo("acme", 4)
	p.Eventually(func() string { return p.operatorCredential().ID }).Should(gomega.BeEmpty(), "a server without webhooks is told of the operator")
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Rollout = nil })
	p.Eventually(func() string { return p.operatorCredential().ID }).Should(gomega.Equal("operator"))
	p.editInstance("acme", func(instance *v1alpha1.Instance) {
		instance.Annotations = map[string]string{rotation.Annotation: "keys:1"}
	})
	p.Eventually(func() []string { return p.operatorCredential().Keys }).Should(gomega.HaveLen(1), "another key joins")
}
