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

// A Sender is one way for the server to send messages to users, as configured in the
// spec.
type Sender struct {
	// Name is the prefix of the sender's files: smtp or sms. DisplayName is its name in
	// messages.
	Name, DisplayName string
	// SecretName is the name of the Secret that the spec references.
	SecretName string
	// Expected describes the expected content of the Secret.
	Expected string

	keys     []string
	validate func(senderSettings) error
	port     func(senderSettings) int32
}

// Senders returns the senders of the spec.
func Senders(instance *v1alpha1.Instance) []Sender {
	var all []Sender
	if wanted := instance.Spec.Notifications; wanted != nil {
		if wanted.SMTP != nil {
			all = append(all, smtpSender(wanted.SMTP.SecretRef.Name))
		}
		if wanted.SMS != nil {
			all = append(all, smsSender(wanted.SMS.SecretRef.Name))
		}
	}
	return all
}

func smtpSender(secret string) Sender {
	return Sender{
		Name: "smtp", DisplayName: "e-mail", SecretName: secret,
		Expected: "host, from and, if needed, port, username, password, tls and ca.crt",
		keys:     []string{"host", "port", "username", "password", "from", "tls", senderCAKey},
		validate: validateSMTP,
		port:     smtpPort,
	}
}

func smsSender(secret string) Sender {
	return Sender{
		Name: "sms", DisplayName: "text message", SecretName: secret,
		Expected: "url, body and, if needed, headers, contentType and ca.crt",
		keys:     []string{"url", "headers", "body", "contentType", senderCAKey},
		validate: validateSMS,
		port:     gatewayPort,
	}
}

const senderCAKey = "ca.crt"

// Validate returns an error if the server could not send with the content of a Secret.
// The error contains none of the content.
func (s Sender) Validate(content map[string][]byte) error {
	given := senderSettings(content)
	if authority := given.text(senderCAKey); authority != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(authority)) {
		return errors.New("ca.crt contains no PEM certificate")
	}
	return s.validate(given)
}

// Files returns the server's files from the content of the sender's Secret. It includes
// only the keys that the server knows.
func (s Sender) Files(content map[string][]byte) map[string][]byte {
	files := map[string][]byte{}
	for _, key := range s.keys {
		if value, ok := content[key]; ok {
			files[s.Name+"."+key] = value
		}
	}
	return files
}

// ContentFromFiles is the inverse of Files: it extracts a sender's content from all
// files of the server.
func (s Sender) ContentFromFiles(files map[string][]byte) map[string][]byte {
	content := map[string][]byte{}
	for _, key := range s.keys {
		if value, ok := files[s.Name+"."+key]; ok {
			content[key] = value
		}
	}
	return content
}

// Port returns the port that the server connects to, from validated content.
func (s Sender) Port(content map[string][]byte) int32 { return s.port(content) }

// BuildNotificationsSecret holds the files of all senders. It returns nil without
// senders.
func BuildNotificationsSecret(in Input, files map[string][]byte) *coreapply.SecretApplyConfiguration {
	if len(files) == 0 {
		return nil
	}
	return newSecret(in, NotificationsSecretName(in.Instance), corev1.SecretTypeOpaque, files)
}

// notificationEgress allows the senders' ports. Their hosts are given by name, so it
// allows the same peers as for a database: anywhere except the Kubernetes API and cloud
// metadata services. It returns nil without senders.
func notificationEgress(in Input) *networkapply.NetworkPolicyEgressRuleApplyConfiguration {
	if len(in.NotificationPorts) == 0 {
		return nil
	}
	rule := networkapply.NetworkPolicyEgressRule().WithTo(anywherePeers(blockedNetworks(in))...)
	for _, port := range slices.Compact(slices.Sorted(slices.Values(in.NotificationPorts))) {
		rule.WithPorts(policyPort(corev1.ProtocolTCP, port))
	}
	return rule
}

// NotificationPorts returns the ports that the server connects to, from its usable
// files.
func NotificationPorts(instance *v1alpha1.Instance, files map[string][]byte) []int32 {
	var ports []int32
	for _, sender := range Senders(instance) {
		if content := sender.ContentFromFiles(files); sender.Validate(content) == nil {
			ports = append(ports, sender.Port(content))
		}
	}
	return ports
}

// String returns the sender's display name and its Secret.
func (s Sender) String() string { return fmt.Sprintf("%s (Secret %s)", s.DisplayName, s.SecretName) }
