// SPDX-License-Identifier: Apache-2.0

package server

import (
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/emersion/go-smtp"
)

// smtpSink is a mail server on loopback that passes on received mail.
type smtpSink chan string

// smtpSession holds the recipient and content of a mail.
type smtpSession struct {
	smtpSink
	to string
}

func (s smtpSink) NewSession(*smtp.Conn) (smtp.Session, error) { return &smtpSession{smtpSink: s}, nil }
func (*smtpSession) Mail(string, *smtp.MailOptions) error      { return nil }
func (*smtpSession) Reset()                                    {}
func (*smtpSession) Logout() error                             { return nil }
func (s *smtpSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	return nil
}

func (s *smtpSession) Data(r io.Reader) error {
	content, err := io.ReadAll(r)
	s.smtpSink <- s.to + "\n" + string(content)
	return err
}

// startSMTPSink starts a mail server over TLS with a certificate of the CA, and writes its
// settings into a directory.
func startSMTPSink(t *testing.T, a *testCA, directory string) smtpSink {
	t.Helper()
	certificate, key := a.issue(t, 9)
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	received := make(smtpSink, 10)
	server := smtp.NewServer(received)
	server.Domain = "localhost"
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-ended
	})
	host, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
	for name, value := range map[string]string{
		"smtp.host": host, "smtp.port": port, "smtp.from": "Acme <no-reply@acme.example>", "smtp.ca.crt": string(ca),
	} {
		writeFile(t, filepath.Join(directory, name), value)
	}
	return received
}

var codePattern = regexp.MustCompile(`\b[0-9]{6}\b`)

// TestSignInByEmail checks that a user signs in with a code received through a real mail
// server.
func TestSignInByEmail(t *testing.T) {
	t.Parallel()
	a, directory := newTestCA(t), t.TempDir()
	command := writeTenantFiles(t, a, directory)
	command.NotificationsDir = filepath.Join(directory, "notifications")
	received := startSMTPSink(t, a, command.NotificationsDir)
	writeFile(t, filepath.Join(directory, "credentials/portal.json"),
		`{"id": "portal", "key": "portal-key", "scopes": ["user:write", "patient:write", "config:read"]}`)
	r := startServer(t, command)
	c, address := newClient(t, a, "h2"), "https://"+r.tenant
	bearer := "Bearer " + fetchAccessToken(t, c, address)
	post := func(path, body string, header ...string) map[string]any {
		t.Helper()
		got := mustSend(t, c, "POST", address+"/api/mgp/v1/"+path, body, append(header, "Content-Type", "application/json", "Instance-Id", "acme-mgp")...)
		if got.status >= http.StatusBadRequest {
			t.Fatalf("POST %s: got status %d: %s", path, got.status, got.body)
		}
		response := map[string]any{}
		if got.body != "" {
			if err := json.Unmarshal([]byte(got.body), &response); err != nil {
				t.Fatal(err)
			}
		}
		return response
	}
	user := post("users", `{"email": "ada@portal.example"}`, "Authorization", bearer)["id"].(string)
	patient := post("patients", `{"user_id": "`+user+`"}`, "Authorization", bearer)["id"].(string)
	post("auth/otp", `{"email": "ADA@portal.example"}`, "Accept-Language", "de-CH, en;q=0.5")
	letter := <-received
	code := codePattern.FindString(letter[len("ada@portal.example"):])
	if code == "" || letter[:len("ada@portal.example")] != "ada@portal.example" {
		t.Fatalf("unexpected email: %s", letter)
	}
	token := post("auth/login/otp", `{"email": "ada@portal.example", "otp": "`+code+`"}`)["token"].(string)
	got := mustSend(t, c, "GET", address+"/api/mgp/v1/patients", "", "Authorization", "Bearer "+token)
	var page struct{ Items []struct{ ID string } }
	if err := json.Unmarshal([]byte(got.body), &page); err != nil || len(page.Items) != 1 || page.Items[0].ID != patient {
		t.Errorf("patients of the user: got %s, error %v", got.body, err)
	}
	if log := r.log.String(); regexp.MustCompile(code + `|ada@`).MatchString(log) {
		t.Errorf("log contains the code or the address: %s", log)
	}
}
