// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	networkapply "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A Sender is one way by which the server sends messages to people, as the spec
// names it.
type Sender struct {
	// Name is what its files begin with: smtp or sms. Means is what people call it.
	Name, Means string
	// Secret is the name of the one that the spec refers to.
	Secret string
	// Want says what is to be in it.
	Want string

	keys  []string
	check func(senderSettings) error
	port  func(senderSettings) int32
}

// Senders are those of the spec.
func Senders(instance *v1alpha1.Instance) []Sender {
	var all []Sender
	if wanted := instance.Spec.Notifications; wanted != nil {
		if wanted.SMTP != nil {
			all = append(all, smtp(wanted.SMTP.SecretRef.Name))
		}
		if wanted.SMS != nil {
			all = append(all, sms(wanted.SMS.SecretRef.Name))
		}
	}
	return all
}

func smtp(secret string) Sender {
	return Sender{
		Name: "smtp", Means: "e-mail", Secret: secret,
		Want:  "host, from and, if needed, port, username, password, tls and ca.crt",
		keys:  []string{"host", "port", "username", "password", "from", "tls", senderAuthorityKey},
		check: checkSMTP,
		port:  smtpPort,
	}
}

func sms(secret string) Sender {
	return Sender{
		Name: "sms", Means: "text message", Secret: secret,
		Want:  "url, body and, if needed, headers, contentType and ca.crt",
		keys:  []string{"url", "headers", "body", "contentType", senderAuthorityKey},
		check: checkSMS,
		port:  gatewayPort,
	}
}

const senderAuthorityKey = "ca.crt"

// Check says why the content of a Secret is none that the server could send by;
// nil when it is. The error repeats nothing of it.
func (s Sender) Check(content map[string][]byte) error {
	given := senderSettings(content)
	if authority := given.text(senderAuthorityKey); authority != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(authority)) {
		return errors.New("ca.crt holds no certificate in PEM")
	}
	return s.check(given)
}

// Files are what the server is given of the content of the sender's Secret: what
// it knows, and nothing else.
func (s Sender) Files(content map[string][]byte) map[string][]byte {
	files := map[string][]byte{}
	for _, key := range s.keys {
		if value, ok := content[key]; ok {
			files[s.Name+"."+key] = value
		}
	}
	return files
}

// Given is the content that Files were made from, of all files of the server.
func (s Sender) Given(files map[string][]byte) map[string][]byte {
	content := map[string][]byte{}
	for _, key := range s.keys {
		if value, ok := files[s.Name+"."+key]; ok {
			content[key] = value
		}
	}
	return content
}

// Port is where the server connects to by a content that was checked.
func (s Sender) Port(content map[string][]byte) int32 { return s.port(content) }

// BuildNotificationsSecret holds what the server sends messages by, each file of a
// sender's; nil for none, and for servers that send none.
func BuildNotificationsSecret(in Input, files map[string][]byte) *coreapply.SecretApplyConfiguration {
	if !in.SendsNotifications() || len(files) == 0 {
		return nil
	}
	return secret(in, NotificationsName(in.Instance), corev1.SecretTypeOpaque, files)
}

// SendsNotifications says whether the server can be told how to send messages.
func (in Input) SendsNotifications() bool { return in.has(encrypts) }

// notificationEgress reaches the ports of senders, whose hosts are names, where
// databases may be too: anywhere but at the Kubernetes API and at the metadata of
// clouds. Nil without senders.
func notificationEgress(in Input) *networkapply.NetworkPolicyEgressRuleApplyConfiguration {
	if len(in.NotificationPorts) == 0 || !in.SendsNotifications() {
		return nil
	}
	rule := networkapply.NetworkPolicyEgressRule().WithTo(anywherePeers(closedNetworks(in))...)
	for _, port := range slices.Compact(slices.Sorted(slices.Values(in.NotificationPorts))) {
		rule.WithPorts(policyPort(corev1.ProtocolTCP, port))
	}
	return rule
}

// NotificationPorts are where the server connects to by its files, as far as they
// can be used.
func NotificationPorts(instance *v1alpha1.Instance, files map[string][]byte) []int32 {
	var ports []int32
	for _, sender := range Senders(instance) {
		if content := sender.Given(files); sender.Check(content) == nil {
			ports = append(ports, sender.Port(content))
		}
	}
	return ports
}

// String names the sender and its Secret in a sentence.
func (s Sender) String() string { return fmt.Sprintf("%s (Secret %s)", s.Means, s.Secret) }
