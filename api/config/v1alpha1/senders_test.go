// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"fmt"
	"maps"
	"net/mail"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// secret returns the content of a Secret: a base with some keys changed, or removed with
// "-".
func secret(base map[string]string, changes ...string) map[string][]byte {
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

// TestParseSenders checks which settings are valid, against the cases in testdata.
func TestParseSenders(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/senders.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]map[string]struct {
		Good    bool
		Content map[string]string
	}
	if err := yaml.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for format, parse := range map[string]func(map[string][]byte) (port int, err error){
		SMTPFormat.Name: func(content map[string][]byte) (int, error) {
			settings, err := ParseSMTP(content)
			if err != nil {
				return 0, err
			}
			return settings.Port, nil
		},
		SMSGatewayFormat.Name: func(content map[string][]byte) (int, error) {
			settings, err := ParseSMSGateway(content, false)
			if err != nil {
				return 0, err
			}
			return settings.Port(), nil
		},
	} {
		if len(cases[format]) == 0 {
			t.Errorf("testdata has no cases of %s", format)
		}
		for name, test := range cases[format] {
			if port, err := parse(secret(test.Content)); (err == nil) != test.Good || (port != 0) != test.Good {
				t.Errorf("%s, %s: got port %d, error %v", format, name, port, err)
			}
		}
	}
}

func TestSenderFormatFiles(t *testing.T) {
	t.Parallel()
	mail := secret(map[string]string{"host": "smtp.acme.example", "from": "a@acme.example", "ca.crt": ""})
	files := SMTPFormat.Files(secret(map[string]string{"host": "smtp.acme.example", "from": "a@acme.example", "ca.crt": "", "note": "ours"}))
	maps.Copy(files, SMSGatewayFormat.Files(secret(map[string]string{"url": "https://sms.example"})))
	want := map[string][]byte{
		"smtp.host": []byte("smtp.acme.example"), "smtp.from": []byte("a@acme.example"), "smtp.ca.crt": {}, "sms.url": []byte("https://sms.example"),
	}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(mail, SMTPFormat.Content(files)); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	names := []string{"sms.url", "sms.headers", "sms.body", "sms.contentType", "sms.ca.crt"}
	if diff := cmp.Diff(names, SMSGatewayFormat.FileNames()); diff != "" {
		t.Errorf("file names (-want +got):\n%s", diff)
	}
	for name, test := range map[string]struct {
		content map[string][]byte
		want    bool
	}{
		"no content":    {nil, true},
		"line breaks":   {secret(nil, "host", "\n", "port", "\r\n"), true},
		"unknown keys":  {secret(nil, "note", "ours"), true},
		"one setting":   {secret(nil, "port", "25"), false},
		"an empty line": {secret(nil, "password", "\n\n"), false},
	} {
		if got := SMTPFormat.IsEmpty(test.content); got != test.want {
			t.Errorf("%s: empty is %v", name, got)
		}
	}
}

var (
	exampleSMTP = map[string]string{"host": "smtp.acme.example", "from": "Acme <a@acme.example>", "username": "acme", "password": "hunter2"}
	exampleSMS  = map[string]string{"url": "https://sms.example/send?key=hunter2", "body": `{"to": "{to}", "m": "{text}"}`, "headers": "Authorization: Bearer hunter2"}
)

func TestParseSMTPDefaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content map[string][]byte
		want    SMTP
	}{
		"STARTTLS":       {secret(exampleSMTP, "username", "-", "password", "-"), SMTP{Port: 587, Encryption: STARTTLS}},
		"STARTTLS named": {secret(exampleSMTP, "tls", "starttls"), SMTP{Port: 587, Encryption: STARTTLS, Username: "acme", Password: "hunter2"}},
		"implicit TLS":   {secret(exampleSMTP, "tls", "tls\n"), SMTP{Port: 465, Encryption: ImplicitTLS, Username: "acme", Password: "hunter2"}},
		"port":           {secret(exampleSMTP, "tls", "tls", "port", " 2525\r\n"), SMTP{Port: 2525, Encryption: ImplicitTLS, Username: "acme", Password: "hunter2"}},
		"password with spaces": {
			secret(exampleSMTP, "password", " p \r\n"),
			SMTP{Port: 587, Encryption: STARTTLS, Username: "acme", Password: " p "},
		},
	} {
		test.want.Host, test.want.From = "smtp.acme.example", mail.Address{Name: "Acme", Address: "a@acme.example"}
		got, err := ParseSMTP(test.content)
		if err != nil || cmp.Diff(test.want, *got) != "" {
			t.Errorf("%s: got %+v, error %v", name, got, err)
		}
	}
}

func TestParseSMSGatewayDefaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		content     map[string][]byte
		allowHTTP   bool
		port        int
		contentType string
	}{
		"JSON":             {secret(exampleSMS), false, 443, ContentTypeJSON},
		"form":             {secret(exampleSMS, "contentType", ContentTypeForm, "body", "{to}={text}"), false, 443, ContentTypeForm},
		"port":             {secret(exampleSMS, "url", "https://sms.example:8443"), false, 8443, ContentTypeJSON},
		"development":      {secret(exampleSMS, "url", "http://sms.example"), true, 80, ContentTypeJSON},
		"development port": {secret(exampleSMS, "url", "http://127.0.0.1:9000"), true, 9000, ContentTypeJSON},
	} {
		got, err := ParseSMSGateway(test.content, test.allowHTTP)
		if err != nil || got.Port() != test.port || got.ContentType != test.contentType {
			t.Errorf("%s: got %+v, error %v", name, got, err)
		}
	}
}

// TestParseSenderErrors checks that errors name the key and contain no values.
func TestParseSenderErrors(t *testing.T) {
	t.Parallel()
	parseSMS := func(content map[string][]byte) error {
		_, err := ParseSMSGateway(content, false)
		return err
	}
	parseSMTP := func(content map[string][]byte) error {
		_, err := ParseSMTP(content)
		return err
	}
	for name, test := range map[string]struct {
		parse   func(map[string][]byte) error
		content map[string][]byte
		want    string
	}{
		"no host":            {parseSMTP, secret(exampleSMTP, "host", "-"), "host: expected the host name"},
		"a URL for the host": {parseSMTP, secret(exampleSMTP, "host", "smtp://hunter2"), "host: expected the host name"},
		"a second line":      {parseSMTP, secret(exampleSMTP, "host", "smtp.acme.example\nhunter2"), "host: expected the host name"},
		"a sender's name":    {parseSMTP, secret(exampleSMTP, "from", "hunter2"), "from: expected an address"},
		"an encryption":      {parseSMTP, secret(exampleSMTP, "tls", "hunter2"), "tls: expected starttls"},
		"no password":        {parseSMTP, secret(exampleSMTP, "password", "-"), "password: expected username and password, or neither"},
		"two lines":          {parseSMTP, secret(exampleSMTP, "password", "hunter2\nx"), "password: expected username and password to be one line"},
		"a high port":        {parseSMTP, secret(exampleSMTP, "port", "65536"), "port: expected a number from 1 to 65535"},
		"no certificate":     {parseSMTP, secret(exampleSMTP, "ca.crt", "hunter2"), "ca.crt: expected certificates in PEM"},
		"plain HTTP":         {parseSMS, secret(exampleSMS, "url", "http://sms.example/hunter2"), "url: expected https"},
		"no URL":             {parseSMS, secret(exampleSMS, "url", "-"), "url: expected a gateway URL"},
		"a high gateway port": {
			parseSMS, secret(exampleSMS, "url", "https://sms.example:99999"), "url: expected a port",
		},
		"no number":      {parseSMS, secret(exampleSMS, "body", `["{text}"]`), "body: expected the placeholder {to}, here or in url"},
		"no body":        {parseSMS, secret(exampleSMS, "body", "-"), "body: expected JSON"},
		"a content type": {parseSMS, secret(exampleSMS, "contentType", "hunter2"), "contentType: expected application/json"},
		"half a header":  {parseSMS, secret(exampleSMS, "headers", "X: y\nhunter2"), "headers: line 2: expected a name"},
		"our own header": {parseSMS, secret(exampleSMS, "headers", "host: hunter2"), "headers: line 1: Host is set automatically"},
	} {
		err := test.parse(test.content)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
	}
	err := PrefixFields("smtp.", parseSMTP(nil))
	if want := "smtp.host: expected the host name of a mail server, such as smtp.acme.example, without a port; smtp.from: expected"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestSenderSettingsAreNotPrinted(t *testing.T) {
	t.Parallel()
	smtp, err := ParseSMTP(secret(exampleSMTP))
	if err != nil {
		t.Fatal(err)
	}
	gateway, err := ParseSMSGateway(secret(exampleSMS), false)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%v %+v %v %+v", smtp, *smtp, gateway, *gateway); strings.Contains(text, "hunter2") {
		t.Errorf("printed as %s", text)
	}
}

// TestSenderFilesRoundTrip checks that a sender's content survives the way through files.
func TestSenderFilesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]SenderFormat{SMTPFormat, SMSGatewayFormat}).Draw(t, "format")
		content := rapid.MapOf(rapid.SampledFrom(format.Keys), rapid.SliceOf(rapid.Byte())).Draw(t, "content")
		if diff := cmp.Diff(content, format.Content(format.Files(content))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// FuzzSenders checks that valid settings have a port and a number to send to.
func FuzzSenders(f *testing.F) {
	f.Add("smtp.acme.example", "a@b.example", "25", "tls")
	f.Add("https://sms.example:1/", "{to}{text}", "A: b", "application/json")
	f.Fuzz(func(t *testing.T, one, two, three, four string) {
		smtp, err := ParseSMTP(secret(nil, "host", one, "from", two, "port", three, "tls", four))
		if err == nil && (smtp.Port < 1 || smtp.Port > 65535 || smtp.Host == "" || smtp.From.Address == "") {
			t.Errorf("got %+v", *smtp)
		}
		gateway, err := ParseSMSGateway(secret(nil, "url", one, "body", two, "headers", three, "contentType", four), false)
		if err == nil && (gateway.Port() < 1 || !strings.Contains(gateway.Body+gateway.URL, PlaceholderTo)) {
			t.Errorf("got %+v", *gateway)
		}
	})
}
