// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/anamnesis-dev/anamnesis/api/v1alpha1"
)

// withChanges returns a Secret's content: a base with some keys changed, or removed with
// "-".
func withChanges(base map[string]string, changes ...string) map[string][]byte {
	content := map[string][]byte{}
	for key, value := range base {
		content[key] = []byte(value)
	}
	for i := 0; i < len(changes); i += 2 {
		if content[changes[i]] = []byte(changes[i+1]); changes[i+1] == "-" {
			delete(content, changes[i])
		}
	}
	return content
}

var (
	exampleSMTP = map[string]string{"host": "smtp.acme.example", "from": "Acme <no-reply@acme.example>", "username": "acme", "password": "hunter2"}
	exampleSMS  = map[string]string{"url": "https://sms.example/send?key=hunter2", "body": `{"to":"{to}","text":"{text}"}`}
)

func TestSenderValidate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sender  Sender
		content map[string][]byte
		port    int
		wantErr string
	}{
		"mail":                             {smtpSender("s"), withChanges(exampleSMTP), 587, ""},
		"mail with TLS":                    {smtpSender("s"), withChanges(exampleSMTP, "tls", "tls"), 465, ""},
		"mail with STARTTLS":               {smtpSender("s"), withChanges(exampleSMTP, "tls", "starttls"), 587, ""},
		"mail at a port":                   {smtpSender("s"), withChanges(exampleSMTP, "port", "2525", "tls", "tls"), 2525, ""},
		"mail without a user":              {smtpSender("s"), withChanges(exampleSMTP, "username", "-", "password", "-"), 587, ""},
		"mail at an address":               {smtpSender("s"), withChanges(exampleSMTP, "host", "2001:db8::1"), 587, ""},
		"mail at no host":                  {smtpSender("s"), withChanges(exampleSMTP, "host", "-"), 0, "host: expected the host name"},
		"mail at a URL":                    {smtpSender("s"), withChanges(exampleSMTP, "host", "smtp://hunter2"), 0, "host: expected the host name"},
		"mail at a host with a line":       {smtpSender("s"), withChanges(exampleSMTP, "host", "smtp.acme.example\nx"), 0, "host: expected the host name"},
		"mail without sender":              {smtpSender("s"), withChanges(exampleSMTP, "from", "hunter2"), 0, "from: expected an address"},
		"mail by another TLS":              {smtpSender("s"), withChanges(exampleSMTP, "tls", "hunter2"), 0, "tls: expected"},
		"mail with a user alone":           {smtpSender("s"), withChanges(exampleSMTP, "password", "-"), 0, "password: expected username and password"},
		"mail with a password alone":       {smtpSender("s"), withChanges(exampleSMTP, "username", ""), 0, "password: expected username and password"},
		"mail at port 0":                   {smtpSender("s"), withChanges(exampleSMTP, "port", "0"), 0, "port: expected a number"},
		"mail at a port that is none":      {smtpSender("s"), withChanges(exampleSMTP, "port", "65536"), 0, "port: expected a number"},
		"mail with invalid CA":             {smtpSender("s"), withChanges(exampleSMTP, "ca.crt", "hunter2"), 0, "ca.crt: expected PEM-encoded certificates"},
		"texts":                            {smsSender("s"), withChanges(exampleSMS), 443, ""},
		"texts at a port":                  {smsSender("s"), withChanges(exampleSMS, "url", "https://sms.example:8443"), 8443, ""},
		"texts by a form, with headers":    {smsSender("s"), withChanges(exampleSMS, "contentType", "application/x-www-form-urlencoded", "body", "{to}={text}", "headers", "Authorization: hunter2\n\nX-A: b\n"), 443, ""},
		"texts over http":                  {smsSender("s"), withChanges(exampleSMS, "url", "http://sms.example/hunter2"), 0, "url: expected an https URL"},
		"texts at no address":              {smsSender("s"), withChanges(exampleSMS, "url", "-"), 0, "url: expected a gateway URL"},
		"texts at a port that is none":     {smsSender("s"), withChanges(exampleSMS, "url", "https://sms.example:99999"), 0, "url: expected a port"},
		"texts without recipient":          {smsSender("s"), withChanges(exampleSMS, "body", `["{text}"]`), 0, "body: expected the placeholder {to}"},
		"texts of nothing":                 {smsSender("s"), withChanges(exampleSMS, "body", "-"), 0, "body: expected JSON"},
		"texts by another type":            {smsSender("s"), withChanges(exampleSMS, "contentType", "text/plain"), 0, "contentType: expected"},
		"texts with a header that is none": {smsSender("s"), withChanges(exampleSMS, "headers", "hunter2"), 0, "headers: line 1: expected"},
		"texts with a header of two words": {smsSender("s"), withChanges(exampleSMS, "headers", "a hunter2: b"), 0, "headers: line 1: expected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.sender.Validate(test.content)
			if test.wantErr == "" {
				if port, _ := test.sender.parsePort(test.content); err != nil || port != test.port {
					t.Errorf("got error %v and port %d, want port %d", err, port, test.port)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.wantErr) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got error %v, want one that contains %q and no content", err, test.wantErr)
			}
		})
	}
}

func TestBuildNotificationsSecret(t *testing.T) {
	t.Parallel()
	in := embeddedInput(withPublicURL)
	files := map[string][]byte{}
	for _, sender := range Senders(in.Instance) {
		content := map[string]map[string]string{"smtp": exampleSMTP, "sms": exampleSMS}[sender.Name]
		maps.Copy(files, sender.Files(withChanges(content, "note", "of a colleague")))
		if diff := cmp.Diff(withChanges(content), sender.Content(files)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sender, diff)
		}
	}
	got := BuildNotificationsSecret(in, files)
	assertSecret(t, got, "acme-notifications", corev1.SecretTypeOpaque)
	want := map[string]string{
		"smtp.host": exampleSMTP["host"], "smtp.from": exampleSMTP["from"], "smtp.username": "acme", "smtp.password": "hunter2",
		"sms.url": exampleSMS["url"], "sms.body": exampleSMS["body"],
	}
	if diff := cmp.Diff(want, toStrings(got.Data)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{587, 443}, NotificationPorts(in.Instance, files)); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if BuildNotificationsSecret(in, nil) != nil {
		t.Error("got a Secret without senders, want nil")
	}
	in.Instance.Spec.Notifications.SMTP = nil
	if diff := cmp.Diff([]int32{443}, NotificationPorts(in.Instance, files)); diff != "" {
		t.Errorf("ports of the remaining sender (-want +got):\n%s", diff)
	}
}

func TestSendersFollowSpec(t *testing.T) {
	t.Parallel()
	if got := Senders(&v1alpha1.Instance{}); got != nil {
		t.Errorf("without notifications: got senders %v, want none", got)
	}
	var names []string
	for _, sender := range Senders(embeddedInput(withPublicURL).Instance) {
		names = append(names, sender.String())
	}
	if diff := cmp.Diff([]string{"e-mail (Secret acme-smtp)", "text message (Secret acme-sms)"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
