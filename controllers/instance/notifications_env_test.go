// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

func sendsBy(smtp, sms string) func(*v1alpha1.Instance) {
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

// files are what the server of acme sends messages by.
func (p *platform) files() map[string]string {
	p.t.Helper()
	files := map[string]string{}
	for name, content := range p.secrets() {
		if file, is := strings.CutPrefix(name, "acme-notifications/"); is {
			files[file] = content
		}
	}
	return files
}

// openPorts are those that the pods of acme reach beside the resolver's and those
// of webhooks.
func (p *platform) openPorts() []int32 {
	p.t.Helper()
	var ports []int32
	rules := read(p, "acme", &networkingv1.NetworkPolicy{}).Spec.Egress
	for _, rule := range rules[1 : len(rules)-1] {
		for _, port := range rule.Ports {
			ports = append(ports, port.Port.IntVal)
		}
	}
	return ports
}

// TestSendersComeAndGo takes them through all that may be wrong with them, while
// the Instance serves.
func TestSendersComeAndGo(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready", "NotificationsReady=False NotConfigured")
	p.Expect(p.message("acme", "NotificationsReady")).To(gomega.ContainSubstring("cannot be sent codes"))
	p.Expect(p.openPorts()).To(gomega.BeEmpty())

	p.editInstance("acme", sendsBy("mail", "texts"))
	p.reaches("acme", "Ready=True Ready", "NotificationsReady=False SecretMissing")
	p.Expect(p.message("acme", "NotificationsReady")).To(gomega.And(
		gomega.ContainSubstring("Secret mail does not exist"), gomega.ContainSubstring("Secret texts does not exist")))

	p.createWatched("mail", map[string][]byte{"host": []byte("smtp.acme.example"), "from": []byte("no-reply@acme.example"), "note": []byte("ours")})
	p.Eventually(p.files).Should(gomega.Equal(map[string]string{"smtp.host": "smtp.acme.example", "smtp.from": "no-reply@acme.example"}))
	p.reaches("acme", "Ready=True Ready", "NotificationsReady=False SecretMissing")
	p.Eventually(p.openPorts).Should(gomega.Equal([]int32{587}), "one that is missing stops no other")
	p.createWatched("texts", map[string][]byte{"url": []byte("https://sms.example:8443/"), "body": []byte(`["{to}", "{text}"]`)})
	p.reaches("acme", "Ready=True Ready", "NotificationsReady=True Configured")
	p.Eventually(p.openPorts).Should(gomega.Equal([]int32{587, 8443}))
	p.Expect(p.message("acme", "NotificationsReady")).To(gomega.Equal("messages are sent by e-mail (Secret mail) and text message (Secret texts)"))

	good := p.files()
	edit(p, "mail", &corev1.Secret{}, func(secret *corev1.Secret) { secret.Data["host"] = []byte("hunter2!") })
	p.reaches("acme", "Ready=True Ready", "NotificationsReady=False SecretInvalid")
	p.Expect(p.message("acme", "NotificationsReady")).NotTo(gomega.ContainSubstring("hunter2"))
	p.settle()
	p.Expect(p.files()).To(gomega.Equal(good), "what was good last stays")
	p.Expect(p.openPorts()).To(gomega.Equal([]int32{587, 8443}))
	edit(p, "mail", &corev1.Secret{}, func(secret *corev1.Secret) {
		secret.Data["host"], secret.Data["tls"] = []byte("smtp.acme.example"), []byte("tls")
	})
	p.reaches("acme", "NotificationsReady=True Configured")
	p.Eventually(p.openPorts).Should(gomega.Equal([]int32{465, 8443}))

	p.editInstance("acme", sendsBy("mail", ""))
	p.Eventually(p.openPorts).Should(gomega.Equal([]int32{465}))
	p.Eventually(p.files).ShouldNot(gomega.HaveKey("sms.url"), "credentials of a sender that is not wanted do not stay")
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Notifications = nil })
	p.reaches("acme", "Ready=True Ready", "NotificationsReady=False NotConfigured")
	p.Eventually(func() bool { return p.get("acme-notifications", &corev1.Secret{}) }).Should(gomega.BeFalse())
	p.Eventually(p.openPorts).Should(gomega.BeEmpty())
	p.Expect(p.templates("acme")).To(gomega.HaveLen(1), "senders restart nothing")
}

// TestSenderIsNoneOfTheOperatorsSecrets: those would be copied to where they are
// not meant to be.
func TestSenderIsNoneOfTheOperatorsSecrets(t *testing.T) {
	p := newPlatform(t)
	instance := p.instance("acme")
	sendsBy("acme-app-default", "")(instance)
	p.create(instance)
	p.reaches("acme", "Ready=True Ready", "NotificationsReady=False SecretInvalid")
	p.Expect(p.message("acme", "NotificationsReady")).To(gomega.ContainSubstring("is one that the operator made"))
	p.Expect(p.files()).To(gomega.BeEmpty())
}

func TestSendersOfEarlierServersWait(t *testing.T) {
	p := newPlatform(t)
	p.create(p.instance("acme"))
	p.reaches("acme", "Ready=True Ready")
	p.pinTo("acme", 3)
	p.createWatched("mail", map[string][]byte{"host": []byte("smtp.acme.example"), "from": []byte("no-reply@acme.example")})
	p.editInstance("acme", sendsBy("mail", ""))
	p.reaches("acme", "Ready=True Ready", "NotificationsReady=False AwaitsServer")
	p.Expect(p.files()).To(gomega.BeEmpty())
	p.editInstance("acme", func(instance *v1alpha1.Instance) { instance.Spec.Rollout = nil })
	p.reaches("acme", "NotificationsReady=True Configured")
	p.Eventually(func() bool { return slices.Equal(p.openPorts(), []int32{587}) }).Should(gomega.BeTrue())
}
