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

// secretContent returns the content of a Secret: a base with some keys changed, or removed with
// "-".
func secretContent(base map[string]string, changes ...string) map[string][]byte {
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
			t.Errorf("testdata has no test cases for %s", format)
		}
		for name, test := range cases[format] {
			if port, err := parse(secretContent(test.Content)); (err == nil) != test.Good || (port != 0) != test.Good {
				t.Errorf("%s, %s: got port %d, error %v", format, name, port, err)
			}
		}
	}
}

func TestSenderFormatFiles(t *testing.T) {
	t.Parallel()
	mail := secretContent(map[string]string{"host": "smtp.acme.example", "from": "a@acme.example", "ca.crt": ""})
	files := SMTPFormat.Files(secretContent(map[string]string{"host": "smtp.acme.example", "from": "a@acme.example", "ca.crt": "", "note": "ours"}))
	maps.Copy(files, SMSGatewayFormat.Files(secretContent(map[string]string{"url": "https://sms.example"})))
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
		"line breaks":   {secretContent(nil, "host", "\n", "port", "\r\n"), true},
		"unknown keys":  {secretContent(nil, "note", "ours"), true},
		"one setting":   {secretContent(nil, "port", "25"), false},
		"an empty line": {secretContent(nil, "password", "\n\n"), false},
	} {
		if got := SMTPFormat.IsEmpty(test.content); got != test.want {
			t.Errorf("%s: IsEmpty() = %v, want %v", name, got, test.want)
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
		"STARTTLS":       {secretContent(exampleSMTP, "username", "-", "password", "-"), SMTP{Port: 587, Encryption: STARTTLS}},
		"STARTTLS named": {secretContent(exampleSMTP, "tls", "starttls"), SMTP{Port: 587, Encryption: STARTTLS, Username: "acme", Password: "hunter2"}},
		"implicit TLS":   {secretContent(exampleSMTP, "tls", "tls\n"), SMTP{Port: 465, Encryption: ImplicitTLS, Username: "acme", Password: "hunter2"}},
		"port":           {secretContent(exampleSMTP, "tls", "tls", "port", " 2525\r\n"), SMTP{Port: 2525, Encryption: ImplicitTLS, Username: "acme", Password: "hunter2"}},
		"password with spaces": {
			secretContent(exampleSMTP, "password", " p \r\n"),
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
		"JSON":             {secretContent(exampleSMS), false, 443, ContentTypeJSON},
		"form":             {secretContent(exampleSMS, "contentType", ContentTypeForm, "body", "{to}={text}"), false, 443, ContentTypeForm},
		"port":             {secretContent(exampleSMS, "url", "https://sms.example:8443"), false, 8443, ContentTypeJSON},
		"development":      {secretContent(exampleSMS, "url", "http://sms.example"), true, 80, ContentTypeJSON},
		"development port": {secretContent(exampleSMS, "url", "http://127.0.0.1:9000"), true, 9000, ContentTypeJSON},
	} {
		got, err := ParseSMSGateway(test.content, test.allowHTTP)
		if err != nil || got.Port() != test.port || got.ContentType != test.contentType {
			t.Errorf("%s: got %+v, error %v", name, got, err)
		}
	}
}

// checkSenderError checks that an error names the key and contains no values.
func checkSenderError(t *testing.T, name string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%s: got error %v, want %q", name, err, want)
	}
}

func TestParseSMTPErrors(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	for name, test := range map[string]struct{ key, content, want string }{
		"no host":              {"host", "", "host: expected the host name"},
		"a port in the host":   {"host", "acme.example:25", "host: expected"},
		"an address for host":  {"host", "smtp://acme.example", "host: expected"},
		"a dot at the end":     {"host", "acme.example.", "host: expected"},
		"a socket":             {"host", "unix:///run/smtp", "host: expected"},
		"port zero":            {"port", "0", "port: expected a number"},
		"a high port":          {"port", "65536", "port: expected a number"},
		"a port in words":      {"port", "smtp", "port: expected a number"},
		"no sender":            {"from", "", "from: expected an address"},
		"two senders":          {"from", "a@acme.example, b@acme.example", "from: expected an address"},
		"a sender and a line":  {"from", "a@acme.example\r\nBcc: b@acme.example", "from: expected an address"},
		"no encryption":        {"tls", "none", "tls: expected starttls"},
		"a password alone":     {"username", "", "password: expected username and password, or neither"},
		"a name alone":         {"password", "", "password: expected username and password, or neither"},
		"a password of lines":  {"password", secret + "\nx", "password: expected username and password to be one line"},
		"a certificate in DER": {"ca.crt", "\x30\x82", "ca.crt: expected PEM-encoded certificates"},
		"two lines for a host": {"host", "smtp.acme.example\n" + secret, "host: expected"},
	} {
		got, err := ParseSMTP(secretContent(exampleSMTP, test.key, test.content))
		checkSenderError(t, name, err, test.want)
		if got != nil {
			t.Errorf("%s: got settings, want nil", name)
		}
	}
}

func TestParseSMSGatewayErrors(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	const badURL, badBody = "url: expected a gateway URL", "body: expected JSON"
	for name, test := range map[string]struct{ key, content, want string }{
		"no address":               {"url", "", badURL},
		"plain HTTP":               {"url", "http://sms.example/" + secret, "url: expected an https URL"},
		"another scheme":           {"url", "ftp://sms.example", badURL},
		"no host":                  {"url", "https:///send", badURL},
		"a path":                   {"url", "/send", badURL},
		"rubbish":                  {"url", "https://sms.example/%zz" + secret, badURL},
		"the number as host":       {"url", "https://{to}.sms.example", "url: placeholders are allowed only in the path"},
		"the text as port":         {"url", "HTTPS://sms.example:{to}/", "url: placeholders are allowed only in the path"},
		"a password":               {"url", "https://me:" + secret + "@sms.example", "url: must not contain a user"},
		"a number in the fragment": {"url", "https://sms.example/#{to}", "url: must not contain a fragment"},
		"no body":                  {"body", "", badBody},
		"bare placeholders":        {"body", `{"to": {to}, "m": {text}}`, badBody},
		"half a body":              {"body", `{"to": "{to}", "m": "{text}"`, badBody},
		"no number":                {"body", `{"m": "{text}"}`, "expected the placeholder {to}"},
		"no text":                  {"body", `{"to": "{to}"}`, "expected the placeholder {text}"},
		"JSON for a form":          {"contentType", ContentTypeForm, "body: expected a form"},
		"another type":             {"contentType", "text/plain", "contentType: expected"},
		"half a header":            {"headers", "X: y\n" + secret, "headers: line 2: expected a name"},
		"a bad name":               {"headers", "X y: " + secret, "headers: line 1: expected a name"},
		"a bad value":              {"headers", "X: " + secret + "\x00", "headers: line 1: expected a name"},
		"our own header":           {"headers", "content-type: x", "headers: line 1: Content-Type is set automatically"},
		"no certificate":           {"ca.crt", "x", "ca.crt: expected PEM-encoded certificates"},
		"a high port":              {"url", "https://sms.example:99999", "url: expected a port"},
	} {
		got, err := ParseSMSGateway(secretContent(exampleSMS, test.key, test.content), false)
		checkSenderError(t, name, err, test.want)
		if got != nil {
			t.Errorf("%s: got settings, want nil", name)
		}
	}
}

// TestParseSenderReportsAllErrors checks that all invalid keys are reported, with the
// given prefix.
func TestParseSenderReportsAllErrors(t *testing.T) {
	t.Parallel()
	_, err := ParseSMTP(secretContent(nil, "port", "hunter2", "tls", "hunter2"))
	want := "smtp.host: expected the host name of a mail server, such as smtp.acme.example, without a port; " +
		"smtp.tls: expected starttls, or tls for implicit TLS; smtp.port: expected a number from 1 to 65535; smtp.from: expected "
	checkSenderError(t, "all", PrefixFields("smtp.", err), want)
}

func TestSenderSettingsAreNotPrinted(t *testing.T) {
	t.Parallel()
	smtp, err := ParseSMTP(secretContent(exampleSMTP))
	if err != nil {
		t.Fatal(err)
	}
	gateway, err := ParseSMSGateway(secretContent(exampleSMS), false)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%v %+v %v %+v", smtp, *smtp, gateway, *gateway); strings.Contains(text, "hunter2") {
		t.Errorf("settings are printed as %s", text)
	}
}

// TestSenderFilesRoundTrip checks that Content restores the content passed to Files.
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

// FuzzSenders checks that valid settings contain a port and the placeholder of the phone
// number.
func FuzzSenders(f *testing.F) {
	f.Add("smtp.acme.example", "a@b.example", "25", "tls")
	f.Add("https://sms.example:1/", "{to}{text}", "A: b", "application/json")
	f.Fuzz(func(t *testing.T, one, two, three, four string) {
		smtp, err := ParseSMTP(secretContent(nil, "host", one, "from", two, "port", three, "tls", four))
		if err == nil && (smtp.Port < 1 || smtp.Port > 65535 || smtp.Host == "" || smtp.From.Address == "") {
			t.Errorf("got %+v", *smtp)
		}
		gateway, err := ParseSMSGateway(secretContent(nil, "url", one, "body", two, "headers", three, "contentType", four), false)
		if err == nil && (gateway.Port() < 1 || !strings.Contains(gateway.Body+gateway.URL, PlaceholderTo)) {
			t.Errorf("got %+v", *gateway)
		}
	})
}
