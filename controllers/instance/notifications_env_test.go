// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

func withSenders(smtp, sms string) func(*v1alpha1.Instance) {
	return func(instance *v1alpha1.Instance) {
		instance.Spec.Notifications = &v1alpha1.Notifications{}
		if smtp != "" {
			instance.Spec.Notifications.SMTP = &v1alpha1.NotificationSender{SecretRef: v1alpha1.SecretReference{Name: smtp}}
		}
		if sms != "" {
			instance.Spec.Notifications.SMS = &v1alpha1.NotificationSender{SecretRef: v1alpha1.SecretReference{Name: sms}}
		}
	}
}

// notificationFiles returns the files that acme's server sends messages with.
func (p *harness) notificationFiles() map[string]string {
	p.t.Helper()
	files := map[string]string{}
	for name, content := range p.secretContents() {
		if file, is := strings.CutPrefix(name, "acme-notifications/"); is {
			files[file] = content
		}
	}
	return files
}

// egressPorts returns the ports that acme's pods may reach, except those of the resolver
// and of webhooks.
func (p *harness) egressPorts() []int32 {
	p.t.Helper()
	var ports []int32
	rules := mustGet(p, "acme", &networkingv1.NetworkPolicy{}).Spec.Egress
	for _, rule := range rules[1 : len(rules)-1] {
		for _, port := range rule.Ports {
			ports = append(ports, port.Port.IntVal)
		}
	}
	return ports
}

// TestSenderLifecycle covers all errors in senders' Secrets while the Instance keeps
// serving.
func TestSenderLifecycle(t *testing.T) {
	p := newHarness(t)
	p.mustCreate(p.newInstance("acme"))
	p.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=False NotConfigured")
	p.Expect(p.conditionMessage("acme", "NotificationsReady")).To(gomega.ContainSubstring("users cannot receive sign-in codes"))
	p.Expect(p.egressPorts()).To(gomega.BeEmpty())

	p.updateInstance("acme", withSenders("mail", "texts"))
	p.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=False SecretMissing")
	p.Expect(p.conditionMessage("acme", "NotificationsReady")).To(gomega.And(
		gomega.ContainSubstring("Secret mail does not exist"), gomega.ContainSubstring("Secret texts does not exist")))

	p.createWatchedSecret("mail", map[string][]byte{"host": []byte("smtp.acme.example"), "from": []byte("no-reply@acme.example"), "note": []byte("ours")})
	p.Eventually(p.notificationFiles).Should(gomega.Equal(map[string]string{"smtp.host": "smtp.acme.example", "smtp.from": "no-reply@acme.example"}))
	p.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=False SecretMissing")
	p.Eventually(p.egressPorts).Should(gomega.Equal([]int32{587}), "one that is missing stops no other")
	p.createWatchedSecret("texts", map[string][]byte{"url": []byte("https://sms.example:8443/"), "body": []byte(`["{to}", "{text}"]`)})
	p.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=True Configured")
	p.Eventually(p.egressPorts).Should(gomega.Equal([]int32{587, 8443}))
	p.Expect(p.conditionMessage("acme", "NotificationsReady")).To(gomega.Equal("messages are sent by e-mail (Secret mail) and text message (Secret texts)"))

	good := p.notificationFiles()
	mustUpdate(p, "mail", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["host"] = []byte("hunter2!") })
	p.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=False SecretInvalid")
	p.Expect(p.conditionMessage("acme", "NotificationsReady")).NotTo(gomega.ContainSubstring("hunter2"))
	p.waitUntilIdle()
	p.Expect(p.notificationFiles()).To(gomega.Equal(good), "what was good last stays")
	p.Expect(p.egressPorts()).To(gomega.Equal([]int32{587, 8443}))
	mustUpdate(p, "mail", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data["host"], secret.Data["tls"] = []byte("smtp.acme.example"), []byte("tls")
	})
	p.waitForConditions("acme", "NotificationsReady=True Configured")
	p.Eventually(p.egressPorts).Should(gomega.Equal([]int32{465, 8443}))

	p.updateInstance("acme", withSenders("mail", ""))
	p.Eventually(p.egressPorts).Should(gomega.Equal([]int32{465}))
	p.Eventually(p.notificationFiles).ShouldNot(gomega.HaveKey("sms.url"), "credentials of a sender that is not wanted do not stay")
	p.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Notifications = nil })
	p.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=False NotConfigured")
	p.Eventually(func() bool { return p.get("acme-notifications", &corev1.Secret{}) }).Should(gomega.BeFalse())
	p.Eventually(p.egressPorts).Should(gomega.BeEmpty())
	p.Expect(p.templateHashes("acme")).To(gomega.HaveLen(1), "senders restart nothing")
}

// TestOperatorSecretIsRejectedAsSender checks that the operator's own Secrets are
// rejected, because their content would be copied into another Secret.
func TestOperatorSecretIsRejectedAsSender(t *testing.T) {
	p := newHarness(t)
	instance := p.newInstance("acme")
	withSenders("acme-app-default", "")(instance)
	p.mustCreate(instance)
	p.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=False SecretInvalid")
	p.Expect(p.conditionMessage("acme", "NotificationsReady")).To(gomega.ContainSubstring("was created by the operator"))
	p.Expect(p.notificationFiles()).To(gomega.BeEmpty())
}
