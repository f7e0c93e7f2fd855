// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	networkapply "k8s.io/client-go/applyconfigurations/networking/v1"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// A Sender is a way to send messages to users that the spec configures.
type Sender struct {
	// DisplayName is the sender's name in messages.
	DisplayName string
	// SecretName is the name of the Secret that the spec references.
	SecretName string
	// Expected describes the expected content of the Secret.
	Expected string

	configv1alpha1.SenderFormat
	// parsePort validates the content of the Secret and returns the port to connect to.
	parsePort func(content map[string][]byte) (int, error)
}

// Senders returns the senders of the spec.
func Senders(instance *v1alpha1.Instance) []Sender {
	var senders []Sender
	if notifications := instance.Spec.Notifications; notifications != nil {
		if notifications.SMTP != nil {
			senders = append(senders, smtpSender(notifications.SMTP.SecretRef.Name))
		}
		if notifications.SMS != nil {
			senders = append(senders, smsSender(notifications.SMS.SecretRef.Name))
		}
	}
	return senders
}

func smtpSender(secret string) Sender {
	return Sender{
		DisplayName: "e-mail", SecretName: secret,
		Expected:     "host, from and, if needed, port, username, password, tls and ca.crt",
		SenderFormat: configv1alpha1.SMTPFormat,
		parsePort: func(content map[string][]byte) (int, error) {
			settings, err := configv1alpha1.ParseSMTP(content)
			if err != nil {
				return 0, err
			}
			return settings.Port, nil
		},
	}
}

func smsSender(secret string) Sender {
	return Sender{
		DisplayName: "text message", SecretName: secret,
		Expected:     "url, body and, if needed, headers, contentType and ca.crt",
		SenderFormat: configv1alpha1.SMSGatewayFormat,
		parsePort: func(content map[string][]byte) (int, error) {
			settings, err := configv1alpha1.ParseSMSGateway(content, false)
			if err != nil {
				return 0, err
			}
			return settings.Port(), nil
		},
	}
}

// Validate returns an error if the content of a Secret is not valid for the sender. The
// error does not contain any of the content.
func (s Sender) Validate(content map[string][]byte) error {
	_, err := s.parsePort(content)
	return err
}

// BuildNotificationsSecret returns the Secret with the files of all senders, or nil
// without senders.
func BuildNotificationsSecret(in Input, files map[string][]byte) *coreapply.SecretApplyConfiguration {
	if len(files) == 0 {
		return nil
	}
	return newSecret(in, NotificationsSecretName(in.Instance), corev1.SecretTypeOpaque, files)
}

// notificationEgress allows the ports of message gateways. A policy cannot match their
// hosts by name, so it allows any address except the Kubernetes API and cloud metadata
// services. It returns nil if there are no senders.
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

// NotificationPorts returns the ports of the message gateways in the senders' valid files.
func NotificationPorts(instance *v1alpha1.Instance, files map[string][]byte) []int32 {
	var ports []int32
	for _, sender := range Senders(instance) {
		if port, err := sender.parsePort(sender.Content(files)); err == nil {
			ports = append(ports, int32(port))
		}
	}
	return ports
}

// String returns the sender's display name and its Secret.
func (s Sender) String() string { return fmt.Sprintf("%s (Secret %s)", s.DisplayName, s.SecretName) }
