// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/mail"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/reload"
)

// filesIn returns files in a directory.
func filesIn(directory string, contents map[string]string) reload.Files {
	files := reload.Files{}
	for name, content := range contents {
		files[filepath.Join(directory, name)] = []byte(content)
	}
	return files
}

// parseMailFiles parses the files of a mail server.
func parseMailFiles(contents map[string]string) (*Mailer, error) {
	return parseMailer(readSettings(configv1alpha1.SMTPFormat, "/d", filesIn("/d", contents)))
}

// parseGatewayFiles parses the files of a gateway.
func parseGatewayFiles(contents map[string]string, development bool) (*SMSGateway, error) {
	return parseGateway(readSettings(configv1alpha1.SMSGatewayFormat, "/d", filesIn("/d", contents)), development)
}

func TestParseMailer(t *testing.T) {
	t.Parallel()
	certificate, _ := selfSigned(t)
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}))
	for name, test := range map[string]struct {
		files map[string]string
		want  *Mailer
	}{
		"none":  {nil, nil},
		"empty": {map[string]string{"smtp.host": "", "smtp.port": "\n", "sms.url": "x"}, nil},
		"least": {map[string]string{"smtp.host": "smtp.acme.example", "smtp.from": "a@acme.example"}, &Mailer{Host: "smtp.acme.example", Port: 587, Encryption: configv1alpha1.STARTTLS, From: mail.Address{Address: "a@acme.example"}}},
		"all": {map[string]string{
			"smtp.host": "10.0.0.1\n", "smtp.port": " 2525\r\n", "smtp.from": "Acme <a@acme.example>\n", "smtp.tls": "tls\n",
			"smtp.username": "me\n", "smtp.password": " p \r\n", "smtp.ca.crt": authority,
		}, &Mailer{
			Host: "10.0.0.1", Port: 2525, Encryption: configv1alpha1.ImplicitTLS, From: mail.Address{Name: "Acme", Address: "a@acme.example"},
			Username: "me", Password: " p ", RootCAs: x509.NewCertPool(),
		}},
		"TLS": {map[string]string{"smtp.host": "::1", "smtp.from": "a@acme.example", "smtp.tls": "tls"}, &Mailer{Host: "::1", Port: 465, Encryption: configv1alpha1.ImplicitTLS, From: mail.Address{Address: "a@acme.example"}}},
	} {
		got, err := parseMailFiles(test.files)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		both := cmp.FilterValues(func(a, b *x509.CertPool) bool { return a != nil && b != nil }, cmp.Ignore())
		if diff := cmp.Diff(test.want, got, both); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestParseSettingsErrors checks that errors name all invalid files and contain no values.
func TestParseSettingsErrors(t *testing.T) {
	t.Parallel()
	mailer, err := parseMailFiles(map[string]string{"smtp.port": "hunter2", "smtp.tls": "hunter2"})
	for _, file := range []string{"smtp.host: expected", "smtp.port: expected", "smtp.from: expected", "smtp.tls: expected"} {
		if mailer != nil || err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v, %v, want %q", mailer, err, file)
		}
	}
	gateway, err := parseGatewayFiles(map[string]string{"sms.url": "http://hunter2.example", "sms.ca.crt": "hunter2"}, false)
	for _, file := range []string{"sms.url: expected an https URL", "sms.body: expected", "sms.ca.crt: expected"} {
		if gateway != nil || err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v, %v, want %q", gateway, err, file)
		}
	}
}

func TestParseGateway(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string
		want  *SMSGateway
	}{
		"none": {map[string]string{"smtp.host": "x"}, nil},
		"JSON": {
			map[string]string{"sms.url": "https://sms.example/send\n", "sms.body": `{"to": "{to}", "m": "{text}"}` + "\n"},
			&SMSGateway{URL: "https://sms.example/send", ContentType: configv1alpha1.ContentTypeJSON, Body: `{"to": "{to}", "m": "{text}"}`},
		},
		"a form": {
			map[string]string{
				"sms.url": "https://sms.example/{to}?a=b", "sms.body": "m={text}", "sms.contentType": configv1alpha1.ContentTypeForm,
				"sms.headers": "authorization: Basic eDp5\n\nX-Two:  a: b \r\nX-Two: c\n",
			},
			&SMSGateway{
				URL: "https://sms.example/{to}?a=b", ContentType: configv1alpha1.ContentTypeForm, Body: "m={text}",
				Headers: http.Header{"Authorization": {"Basic eDp5"}, "X-Two": {"a: b", "c"}},
			},
		},
		"in development": {
			map[string]string{"sms.url": "http://127.0.0.1:9000", "sms.body": `["{to}","{text}"]`},
			&SMSGateway{URL: "http://127.0.0.1:9000", ContentType: configv1alpha1.ContentTypeJSON, Body: `["{to}","{text}"]`},
		},
	} {
		got, err := parseGatewayFiles(test.files, name == "in development")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestSettingsFormatIsRedacted checks that formatting settings in any way does not
// reveal their secrets.
func TestSettingsFormatIsRedacted(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	mailer := Mailer{Host: "smtp.acme.example", Port: 587, Username: "me", Password: secret}
	gateway := SMSGateway{URL: "https://sms.example/?key=" + secret, Headers: http.Header{"X": {secret}}, Body: secret}
	got := fmt.Sprint(mailer, &mailer, gateway, &gateway, SMSGateway{URL: "://" + secret}) + fmt.Sprintf("%+v %+v", mailer, &gateway)
	if strings.Contains(got, secret) || !strings.Contains(got, "mail server smtp.acme.example:587") || !strings.Contains(got, "SMS gateway sms.example") {
		t.Error(got)
	}
}

// FuzzSettings checks that accepted settings yield requests that can be sent, and errors
// do not reveal the password.
func FuzzSettings(f *testing.F) {
	f.Add("smtp.acme.example", "587", "me", "secret-1", "Acme <a@acme.example>", "starttls", "")
	f.Add("https://sms.example/{to}", "X: y\nZ: a", `{"m": "{text}"}`, "secret-2", "application/json", "", "")
	f.Add("https://sms.example/?{to}={text}", "", "a={text}", "secret-3", configv1alpha1.ContentTypeForm, "", "-----BEGIN CERTIFICATE-----")
	f.Fuzz(func(t *testing.T, a, b, c, secret, d, e, g string) {
		m, err := parseMailFiles(map[string]string{
			"smtp.host": a, "smtp.port": b, "smtp.username": c, "smtp.password": secret, "smtp.from": d, "smtp.tls": e, "smtp.ca.crt": g,
		})
		expectNoSecret(t, err, secret)
		if m != nil {
			expectMailer(t, m)
		}
		gateway, err := parseGatewayFiles(map[string]string{
			"sms.url": a, "sms.headers": b, "sms.body": c, "sms.contentType": d, "sms.ca.crt": g,
		}, false)
		if gateway != nil {
			expectGateway(t, gateway)
		}
		if err == nil && gateway == nil && a+b+c+d+g != "" && strings.Trim(a+b+c+d+g, "\r\n") != "" {
			t.Error("got neither settings nor an error")
		}
	})
}

// expectNoSecret fails if an error contains the password other than by coincidence.
func expectNoSecret(t *testing.T, err error, secret string) {
	t.Helper()
	if strings.HasPrefix(secret, "secret-") && err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("error contains the password: %v", err)
	}
}

func expectMailer(t *testing.T, m *Mailer) {
	t.Helper()
	letter, err := m.compose(newEmail())
	if err != nil {
		t.Fatalf("%+v: %v", m.From, err)
	}
	var written strings.Builder
	if _, err := letter.WriteTo(&written); err != nil {
		t.Fatal(err)
	}
	got, err := mail.ReadMessage(strings.NewReader(written.String()))
	if err != nil {
		t.Fatal(err)
	}
	for name := range got.Header {
		switch name {
		case "Date", "Mime-Version", "Message-Id", "Subject", "From", "To", "Auto-Submitted", "Content-Type", "Content-Transfer-Encoding":
		default:
			t.Errorf("sender %+v adds header %s", m.From, name)
		}
	}
	if m.Port < 1 || m.Port > 65535 || m.Encryption != configv1alpha1.STARTTLS && m.Encryption != configv1alpha1.ImplicitTLS || (m.Username == "") != (m.Password == "") {
		t.Errorf("accepted settings %+v", m)
	}
}

func expectGateway(t *testing.T, g *SMSGateway) {
	t.Helper()
	request, err := g.newRequest(t.Context(), "+4930123456789", "a \"text\" & more")
	if err != nil {
		t.Fatalf("%+v: %v", g, err)
	}
	plain, err := url.Parse(g.expandURL("", ""))
	if err != nil || request.URL.Host != plain.Host || request.URL.Scheme != "https" || request.URL.User != nil {
		t.Errorf("URL %s expands to %s", g.URL, request.URL)
	}
	if err := request.Write(new(strings.Builder)); err != nil {
		t.Errorf("%+v creates an invalid request: %v", g, err)
	}
}
