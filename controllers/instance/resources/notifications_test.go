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

// content is that of a Secret: a base with some keys changed, or left out by "-".
func content(base map[string]string, changes ...string) map[string][]byte {
	all := map[string][]byte{}
	for key, value := range base {
		all[key] = []byte(value)
	}
	for i := 0; i < len(changes); i += 2 {
		if all[changes[i]] = []byte(changes[i+1]); changes[i+1] == "-" {
			delete(all, changes[i])
		}
	}
	return all
}

var (
	someSMTP = map[string]string{"host": "smtp.acme.example", "from": "Acme <no-reply@acme.example>", "username": "acme", "password": "hunter2"}
	someSMS  = map[string]string{"url": "https://sms.example/send?key=hunter2", "body": `{"to":"{to}","text":"{text}"}`}
)

func TestSendersAreChecked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		sender  Sender
		content map[string][]byte
		port    int32
		wrong   string
	}{
		"mail":                             {smtp("s"), content(someSMTP), 587, ""},
		"mail with TLS":                    {smtp("s"), content(someSMTP, "tls", "tls"), 465, ""},
		"mail with STARTTLS":               {smtp("s"), content(someSMTP, "tls", "starttls"), 587, ""},
		"mail at a port":                   {smtp("s"), content(someSMTP, "port", "2525", "tls", "tls"), 2525, ""},
		"mail without a user":              {smtp("s"), content(someSMTP, "username", "-", "password", "-"), 587, ""},
		"mail at an address":               {smtp("s"), content(someSMTP, "host", "2001:db8::1"), 587, ""},
		"mail at no host":                  {smtp("s"), content(someSMTP, "host", "-"), 0, "host is neither"},
		"mail at a URL":                    {smtp("s"), content(someSMTP, "host", "smtp://hunter2"), 0, "host is neither"},
		"mail at a host with a line":       {smtp("s"), content(someSMTP, "host", "smtp.acme.example\nx"), 0, "host is neither"},
		"mail from nobody":                 {smtp("s"), content(someSMTP, "from", "hunter2"), 0, "from is no address"},
		"mail by another TLS":              {smtp("s"), content(someSMTP, "tls", "hunter2"), 0, "tls is neither"},
		"mail with a user alone":           {smtp("s"), content(someSMTP, "password", "-"), 0, "there is only one"},
		"mail with a password alone":       {smtp("s"), content(someSMTP, "username", ""), 0, "there is only one"},
		"mail at port 0":                   {smtp("s"), content(someSMTP, "port", "0"), 0, "port is no number"},
		"mail at a port that is none":      {smtp("s"), content(someSMTP, "port", "65536"), 0, "port is no number"},
		"mail trusting nobody":             {smtp("s"), content(someSMTP, "ca.crt", "hunter2"), 0, "ca.crt holds no certificate"},
		"texts":                            {sms("s"), content(someSMS), 443, ""},
		"texts at a port":                  {sms("s"), content(someSMS, "url", "https://sms.example:8443"), 8443, ""},
		"texts by a form, with headers":    {sms("s"), content(someSMS, "contentType", "application/x-www-form-urlencoded", "body", "{to}={text}", "headers", "Authorization: hunter2\n\nX-A: b\n"), 443, ""},
		"texts over http":                  {sms("s"), content(someSMS, "url", "http://sms.example/hunter2"), 0, "url is no https://"},
		"texts at no address":              {sms("s"), content(someSMS, "url", "-"), 0, "url is no https://"},
		"texts at a port that is none":     {sms("s"), content(someSMS, "url", "https://sms.example:99999"), 0, "url is no https://"},
		"texts to nobody":                  {sms("s"), content(someSMS, "body", `["{text}"]`), 0, "body lacks {to}"},
		"texts of nothing":                 {sms("s"), content(someSMS, "body", "-"), 0, "body is no JSON"},
		"texts by another type":            {sms("s"), content(someSMS, "contentType", "text/plain"), 0, "contentType is neither"},
		"texts with a header that is none": {sms("s"), content(someSMS, "headers", "hunter2"), 0, "headers has a line"},
		"texts with a header of two words": {sms("s"), content(someSMS, "headers", "a hunter2: b"), 0, "headers has a line"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := test.sender.Check(test.content)
			if test.wrong == "" {
				if err != nil || test.sender.Port(test.content) != test.port {
					t.Errorf("got %v, port %d, want none and %d", err, test.sender.Port(test.content), test.port)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.wrong) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want one that says %q and repeats nothing", err, test.wrong)
			}
		})
	}
}

func TestBuildNotificationsSecret(t *testing.T) {
	t.Parallel()
	in := embedded(public)
	files := map[string][]byte{}
	for _, sender := range Senders(in.Instance) {
		given := map[string]map[string]string{"smtp": someSMTP, "sms": someSMS}[sender.Name]
		maps.Copy(files, sender.Files(content(given, "note", "of somebody")))
		if diff := cmp.Diff(content(given), sender.Given(files)); diff != "" {
			t.Errorf("%s (-in the Secret +read back):\n%s", sender, diff)
		}
	}
	got := BuildNotificationsSecret(in, files)
	wantSecret(t, got, "acme-notifications", corev1.SecretTypeOpaque)
	want := map[string]string{
		"smtp.host": someSMTP["host"], "smtp.from": someSMTP["from"], "smtp.username": "acme", "smtp.password": "hunter2",
		"sms.url": someSMS["url"], "sms.body": someSMS["body"],
	}
	if diff := cmp.Diff(want, texts(got.Data)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{587, 443}, NotificationPorts(in.Instance, files)); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if BuildNotificationsSecret(in, nil) != nil || BuildNotificationsSecret(ofRevision(3, in), files) != nil {
		t.Error("there is a Secret of no sender, or for a server that sends nothing")
	}
	in.Instance.Spec.Notifications.SMTP = nil
	if diff := cmp.Diff([]int32{443}, NotificationPorts(in.Instance, files)); diff != "" {
		t.Errorf("ports of the one that is left (-want +got):\n%s", diff)
	}
}

func FuzzSenders(f *testing.F) {
	f.Add("smtp.acme.example", "a@b.example", "25", "tls")
	f.Add("https://sms.example:1/", "{to}{text}", "A: b", "application/json")
	f.Fuzz(func(t *testing.T, one, two, three, four string) {
		for sender, content := range map[string]map[string][]byte{
			"smtp": {"host": []byte(one), "from": []byte(two), "port": []byte(three), "tls": []byte(four)},
			"sms":  {"url": []byte(one), "body": []byte(two), "headers": []byte(three), "contentType": []byte(four)},
		} {
			judged := map[string]Sender{"smtp": smtp("s"), "sms": sms("s")}[sender]
			if judged.Check(content) == nil && judged.Port(content) <= 0 {
				t.Errorf("%s passes, and has no port: %q", sender, content)
			}
		}
	})
}

func TestSendersAreThoseOfTheSpec(t *testing.T) {
	t.Parallel()
	if got := Senders(&v1alpha1.Instance{}); got != nil {
		t.Errorf("without notifications there are %v", got)
	}
	var names []string
	for _, sender := range Senders(embedded(public).Instance) {
		names = append(names, sender.String())
	}
	if diff := cmp.Diff([]string{"e-mail (Secret acme-smtp)", "text message (Secret acme-sms)"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
