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

// notificationFiles returns the files in acme's notifications Secret.
func (h *harness) notificationFiles() map[string]string {
	h.t.Helper()
	files := map[string]string{}
	for name, content := range h.secretContents() {
		if file, ok := strings.CutPrefix(name, "acme-notifications/"); ok {
			files[file] = content
		}
	}
	return files
}

// egressPorts returns the ports that acme's pods may reach, except those of the resolver
// and of webhooks.
func (h *harness) egressPorts() []int32 {
	h.t.Helper()
	var ports []int32
	rules := mustGet(h, "acme", &networkingv1.NetworkPolicy{}).Spec.Egress
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
	h := newHarness(t)
	h.mustCreate(h.newInstance("acme"))
	h.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=False NotConfigured")
	h.Expect(h.conditionMessage("acme", "NotificationsReady")).To(gomega.ContainSubstring("users cannot receive sign-in codes"))
	h.Expect(h.egressPorts()).To(gomega.BeEmpty())

	h.updateInstance("acme", withSenders("mail", "texts"))
	h.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=False SecretMissing")
	h.Expect(h.conditionMessage("acme", "NotificationsReady")).To(gomega.And(
		gomega.ContainSubstring("Secret mail not found"), gomega.ContainSubstring("Secret texts not found")))

	h.createWatchedSecret("mail", map[string][]byte{"host": []byte("smtp.acme.example"), "from": []byte("no-reply@acme.example"), "note": []byte("ours")})
	h.Eventually(h.notificationFiles).Should(gomega.Equal(map[string]string{"smtp.host": "smtp.acme.example", "smtp.from": "no-reply@acme.example"}))
	h.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=False SecretMissing")
	h.Eventually(h.egressPorts).Should(gomega.Equal([]int32{587}), "a missing sender must not affect other senders")
	h.createWatchedSecret("texts", map[string][]byte{"url": []byte("https://sms.example:8443/"), "body": []byte(`["{to}", "{text}"]`)})
	h.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=True Configured")
	h.Eventually(h.egressPorts).Should(gomega.Equal([]int32{587, 8443}))
	h.Expect(h.conditionMessage("acme", "NotificationsReady")).To(gomega.Equal("messages are sent by e-mail (Secret mail) and text message (Secret texts)"))

	good := h.notificationFiles()
	mustUpdate(h, "mail", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["host"] = []byte("hunter2!") })
	h.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=False SecretInvalid")
	h.Expect(h.conditionMessage("acme", "NotificationsReady")).NotTo(gomega.ContainSubstring("hunter2"))
	h.waitUntilIdle()
	h.Expect(h.notificationFiles()).To(gomega.Equal(good), "the last valid value must stay in use")
	h.Expect(h.egressPorts()).To(gomega.Equal([]int32{587, 8443}))
	mustUpdate(h, "mail", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data["host"], secret.Data["tls"] = []byte("smtp.acme.example"), []byte("tls")
	})
	h.waitForConditions("acme", "NotificationsReady=True Configured")
	h.Eventually(h.egressPorts).Should(gomega.Equal([]int32{465, 8443}))

	h.updateInstance("acme", withSenders("mail", ""))
	h.Eventually(h.egressPorts).Should(gomega.Equal([]int32{465}))
	h.Eventually(h.notificationFiles).ShouldNot(gomega.HaveKey("sms.url"), "credentials of a removed sender must be deleted")
	h.updateInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Notifications = nil })
	h.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=False NotConfigured")
	h.Eventually(func() bool { return h.get("acme-notifications", &corev1.Secret{}) }).Should(gomega.BeFalse())
	h.Eventually(h.egressPorts).Should(gomega.BeEmpty())
	h.Expect(h.templateHashes("acme")).To(gomega.HaveLen(1), "a change of senders must not restart pods")
}

// TestOperatorSecretIsRejectedAsSender checks that the operator's own Secrets are
// rejected, because their content would be copied into another Secret.
func TestOperatorSecretIsRejectedAsSender(t *testing.T) {
	h := newHarness(t)
	instance := h.newInstance("acme")
	withSenders("acme-app-default", "")(instance)
	h.mustCreate(instance)
	h.waitForConditions("acme", "Ready=True Ready", "NotificationsReady=False SecretInvalid")
	h.Expect(h.conditionMessage("acme", "NotificationsReady")).To(gomega.ContainSubstring("was created by the operator"))
	h.Expect(h.notificationFiles()).To(gomega.BeEmpty())
}
