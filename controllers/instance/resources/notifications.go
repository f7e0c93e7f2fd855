// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"mime"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
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
	check func(content map[string][]byte) error
	port  func(content map[string][]byte) int32
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
	if authority := content[senderAuthorityKey]; len(authority) > 0 && !x509.NewCertPool().AppendCertsFromPEM(authority) {
		return errors.New("ca.crt holds no certificate in PEM")
	}
	return s.check(content)
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

func checkSMTP(content map[string][]byte) error {
	host := string(content["host"])
	if _, err := netip.ParseAddr(host); err != nil && len(validation.IsDNS1123Subdomain(strings.ToLower(host))) > 0 {
		return errors.New("host is neither the name of a host nor an address: such as smtp.acme.example")
	}
	if _, err := mail.ParseAddress(string(content["from"])); err != nil {
		return errors.New("from is no address of e-mail: such as Acme <no-reply@acme.example>")
	}
	if !slices.Contains([]string{"", "starttls", "tls"}, string(content["tls"])) {
		return errors.New("tls is neither starttls nor tls")
	}
	if (len(content["username"]) == 0) != (len(content["password"]) == 0) {
		return errors.New("of username and password there is only one: give both or none")
	}
	if smtpPort(content) == 0 {
		return errors.New("port is no number from 1 to 65535")
	}
	return nil
}

// smtpPort is 587, or 465 with TLS from the first byte on, where the Secret says
// nothing else; zero for what is no port.
func smtpPort(content map[string][]byte) int32 {
	standard := "587"
	if string(content["tls"]) == "tls" {
		standard = "465"
	}
	return portOf(cmp.Or(string(content["port"]), standard))
}

func portOf(text string) int32 {
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return 0
	}
	return int32(port)
}

func checkSMS(content map[string][]byte) error {
	gateway, err := url.Parse(string(content["url"]))
	if err != nil || gateway.Scheme != "https" || gateway.Hostname() == "" || gatewayPort(content) == 0 {
		return errors.New("url is no https:// address: codes that let people in would be read along over http")
	}
	if body := string(content["body"]); !strings.Contains(body, "{to}") || !strings.Contains(body, "{text}") {
		return errors.New("body lacks {to} or {text}, in whose place the number and the message are put")
	}
	kind, _, err := mime.ParseMediaType(cmp.Or(string(content["contentType"]), "application/json"))
	if err != nil || kind != "application/json" && kind != "application/x-www-form-urlencoded" {
		return errors.New("contentType is neither application/json nor application/x-www-form-urlencoded")
	}
	for line := range strings.Lines(string(content["headers"])) {
		if name, _, found := strings.Cut(line, ":"); strings.TrimSpace(line) != "" && (!found || len(validation.IsHTTPHeaderName(name)) > 0) {
			return errors.New("headers has a line that is not like Name: value")
		}
	}
	return nil
}

func gatewayPort(content map[string][]byte) int32 {
	gateway, err := url.Parse(string(content["url"]))
	if err != nil {
		return 0
	}
	return portOf(cmp.Or(gateway.Port(), "443"))
}

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
