// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	stdmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"go.uber.org/goleak"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	username = "mailer"
	password = "my-secret-password"
)

// A smtpServer is a real SMTP server on loopback that records what it receives.
type smtpServer struct {
	addr    net.Addr
	rootCAs *x509.CertPool

	requireAuth bool
	rejections  map[string]error // by command: auth, from, rcpt, data

	mu            sync.Mutex
	from          string
	to            []string
	received      []string
	authenticated []string
}

// selfSigned returns a self-signed certificate for 127.0.0.1.
func selfSigned(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: parsed}, pool
}

// startSMTPServer starts a mail server with one kind of encryption; "" is unencrypted.
func startSMTPServer(t testing.TB, encryption configv1alpha1.Encryption, edits ...func(*smtpServer)) *smtpServer {
	t.Helper()
	certificate, pool := selfSigned(t)
	s := &smtpServer{rootCAs: pool, rejections: map[string]error{}}
	for _, edit := range edits {
		edit(s)
	}
	server := smtp.NewServer(s)
	server.Domain, server.ErrorLog, server.EnableSMTPUTF8 = "localhost", discardLogger{}, true
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = listener.Addr()
	switch encryption {
	case configv1alpha1.STARTTLS:
		server.TLSConfig = config
	case configv1alpha1.ImplicitTLS:
		listener = tls.NewListener(listener, config)
	default:
		server.AllowInsecureAuth = true
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		_ = listener.Close() // the server does not know the listener until Serve runs
		<-ended
	})
	return s
}

type discardLogger struct{}

func (discardLogger) Printf(string, ...any) {}
func (discardLogger) Println(...any)        {}

// NewSession implements smtp.Backend.
func (s *smtpServer) NewSession(*smtp.Conn) (smtp.Session, error) {
	return &smtpSession{server: s}, nil
}

type smtpSession struct {
	server        *smtpServer
	authenticated bool
	to            []string
	sender        string
}

func (s *smtpSession) AuthMechanisms() []string {
	if s.server.requireAuth {
		return []string{sasl.Plain}
	}
	return nil
}

func (s *smtpSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, pass string) error {
		if err := s.server.rejections["auth"]; err != nil {
			return err
		}
		if user != username || pass != password {
			return &smtp.SMTPError{Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8}, Message: "bad password " + pass}
		}
		s.authenticated = true
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		s.server.authenticated = append(s.server.authenticated, user)
		return nil
	}), nil
}

func (s *smtpSession) Mail(from string, _ *smtp.MailOptions) error {
	if s.server.requireAuth && !s.authenticated {
		return smtp.ErrAuthRequired
	}
	s.sender = from
	return s.server.rejections["from"]
}

func (s *smtpSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return s.server.rejections["rcpt"]
}

func (s *smtpSession) Data(r io.Reader) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.server.rejections["data"]; err != nil {
		return err
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	s.server.from, s.server.to, s.server.received = s.sender, s.to, append(s.server.received, string(content))
	return nil
}

func (*smtpSession) Reset()        {}
func (*smtpSession) Logout() error { return nil }

// newMailer returns a correctly configured mailer for a server.
func (s *smtpServer) newMailer(encryption configv1alpha1.Encryption) *Mailer {
	address := s.addr.(*net.TCPAddr)
	m := &Mailer{
		Host: address.IP.String(), Port: address.Port, Encryption: encryption, RootCAs: s.rootCAs,
		From: stdmail.Address{Name: "Müller & Söhne", Address: "no-reply@acme.example"},
	}
	if s.requireAuth {
		m.Username, m.Password = username, password
	}
	return m
}

func withAuth(s *smtpServer) { s.requireAuth = true }

func TestMailerSend(t *testing.T) {
	t.Parallel()
	for _, encryption := range []configv1alpha1.Encryption{configv1alpha1.STARTTLS, configv1alpha1.ImplicitTLS} {
		for name, edits := range map[string][]func(*smtpServer){"anonymous": nil, "signed in": {withAuth}} {
			t.Run(string(encryption)+" "+name, func(t *testing.T) {
				t.Parallel()
				server := startSMTPServer(t, encryption, edits...)
				message := newEmail(func(m *Message) { m.Language = "de" })
				if err := server.newMailer(encryption).Send(t.Context(), message); err != nil {
					t.Fatal(err)
				}
				server.mu.Lock()
				defer server.mu.Unlock()
				if len(server.received) != 1 || server.from != "no-reply@acme.example" || len(server.to) != 1 || server.to[0] != message.Recipient {
					t.Fatalf("server received %v from %s to %v", server.received, server.from, server.to)
				}
				if len(server.authenticated) != len(edits) {
					t.Errorf("got %v authentications, want %d", server.authenticated, len(edits))
				}
				expectEmail(t, server.received[0], message)
			})
		}
	}
}

// expectEmail parses an email as a mail client does.
func expectEmail(t *testing.T, received string, message Message) {
	t.Helper()
	got, err := stdmail.ReadMessage(strings.NewReader(received))
	if err != nil {
		t.Fatal(err)
	}
	from, err := got.Header.AddressList("From")
	if err != nil || len(from) != 1 || from[0].Name != "Müller & Söhne" {
		t.Errorf("got sender %v, error %v", from, err)
	}
	for name, want := range map[string]string{
		"Auto-Submitted": "auto-generated", "To": "<" + message.Recipient + ">",
		"Subject": "=?UTF-8?q?Ihr_Code_f=C3=BCr_acme?=", "User-Agent": "", "X-Mailer": "", "Bcc": "",
		"Content-Type": "text/plain; charset=UTF-8",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("header %s is %q, want %q", name, got.Header.Get(name), want)
		}
	}
	if !strings.HasSuffix(got.Header.Get("Message-ID"), "@acme.example>") {
		t.Errorf("Message-ID is %s", got.Header.Get("Message-ID"))
	}
	if date, err := got.Header.Date(); err != nil || time.Since(date) > time.Minute {
		t.Errorf("got date %v, error %v", date, err)
	}
	body, err := io.ReadAll(got.Body)
	if err != nil || !strings.Contains(string(body), "f=C3=BCr die Anmeldung bei acme: "+message.Code) {
		t.Errorf("got body %s, error %v", body, err)
	}
}

func TestMailerSendErrors(t *testing.T) {
	t.Parallel()
	rejecting := func(command string, code int) func(*smtpServer) {
		return func(s *smtpServer) {
			s.rejections[command] = &smtp.SMTPError{
				Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1},
				Message: "not ada@acme.example with " + newEmail().Code + " nor " + password,
			}
		}
	}
	for name, test := range map[string]struct {
		server    configv1alpha1.Encryption
		edit      func(*smtpServer)
		settings  func(*Mailer)
		problem   string
		temporary bool
	}{
		"no STARTTLS":                      {problem: "does not offer STARTTLS"},
		"no STARTTLS, with authentication": {edit: withAuth, problem: "does not offer STARTTLS"},
		"no TLS":                           {settings: func(m *Mailer) { m.Encryption = configv1alpha1.ImplicitTLS }, problem: "does not use TLS"},
		"unknown CA":                       {server: configv1alpha1.STARTTLS, settings: func(m *Mailer) { m.RootCAs = x509.NewCertPool() }, problem: "unknown authority"},
		"untrusted certificate":            {server: configv1alpha1.STARTTLS, settings: func(m *Mailer) { m.RootCAs = nil }, problem: "unknown authority"},
		"other host name":                  {server: configv1alpha1.STARTTLS, settings: func(m *Mailer) { m.Host = "localhost" }, problem: "certificate"},
		"unknown CA, implicit TLS":         {server: configv1alpha1.ImplicitTLS, settings: func(m *Mailer) { m.RootCAs = x509.NewCertPool() }, problem: "unknown authority"},
		"wrong password":                   {server: configv1alpha1.STARTTLS, edit: withAuth, settings: func(m *Mailer) { m.Password += "x" }, problem: "replied 535 before a message was sent: smtp.username or smtp.password is wrong"},
		"no password":                      {server: configv1alpha1.STARTTLS, edit: withAuth, settings: func(m *Mailer) { m.Username = "" }, problem: "rejected the sender with 502"},
		"unrequested password":             {server: configv1alpha1.STARTTLS, settings: func(m *Mailer) { m.Username, m.Password = username, password }, problem: "none of the supported authentication mechanisms"},
		"temporary authentication failure": {server: configv1alpha1.ImplicitTLS, edit: func(s *smtpServer) { withAuth(s); rejecting("auth", 454)(s) }, problem: "replied 454", temporary: true},
		"sender rejected":                  {server: configv1alpha1.STARTTLS, edit: rejecting("from", 550), problem: "rejected the sender with 550"},
		"recipient rejected":               {server: configv1alpha1.STARTTLS, edit: rejecting("rcpt", 550), problem: "rejected the recipient with 550"},
		"recipient rejected temporarily":   {server: configv1alpha1.ImplicitTLS, edit: rejecting("rcpt", 451), problem: "rejected the recipient with 451", temporary: true},
		"message rejected":                 {server: configv1alpha1.STARTTLS, edit: rejecting("data", 554), problem: "rejected the message with 554"},
		"message rejected temporarily":     {server: configv1alpha1.STARTTLS, edit: rejecting("data", 452), problem: "rejected the message with 452", temporary: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit := test.edit
			if edit == nil {
				edit = func(*smtpServer) {}
			}
			server := startSMTPServer(t, test.server, edit)
			encryption := test.server
			if encryption == "" {
				encryption = configv1alpha1.STARTTLS
			}
			mailer := server.newMailer(encryption)
			if test.settings != nil {
				test.settings(mailer)
			}
			err := mailer.Send(t.Context(), newEmail())
			expectSendError(t, err, test.problem, test.temporary)
			if server.received != nil || server.authenticated != nil && test.problem == "does not offer STARTTLS" {
				t.Error("server accepted a message")
			}
		})
	}
}

// expectSendError fails unless an error describes the failure and nothing else.
func expectSendError(t *testing.T, err error, problem string, temporary bool) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), problem) || IsTemporary(err) != temporary {
		t.Fatalf("got error %v, temporary %v; want it to contain %q, temporary %v", err, IsTemporary(err), problem, temporary)
	}
	for _, m := range []Message{newEmail(), newTextMessage()} {
		expectRedacted(t, err.Error(), m)
	}
	if strings.Contains(err.Error(), password) {
		t.Errorf("error contains the password: %v", err)
	}
}

// TestMailerSendTimesOut checks that the mailer gives up on a server that never
// responds.
func TestMailerSendTimesOut(t *testing.T) {
	t.Parallel()
	for _, encryption := range []configv1alpha1.Encryption{configv1alpha1.STARTTLS, configv1alpha1.ImplicitTLS} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		mailer := (&smtpServer{addr: listener.Addr()}).newMailer(encryption)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		expectSendError(t, mailer.Send(ctx, newEmail()), "timed out after", true)
	}
}

// TestMailerSendTimesOutMidSession checks that the mailer gives up on a server that
// stops responding midway.
func TestMailerSendTimesOutMidSession(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "220 localhost\r\n")
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err = (&smtpServer{addr: listener.Addr()}).newMailer(configv1alpha1.STARTTLS).Send(ctx, newEmail())
	expectSendError(t, err, "timed out after", true)
}

func TestMailerConnectionErrorsAreTemporary(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	mailer := (&smtpServer{addr: listener.Addr()}).newMailer(configv1alpha1.STARTTLS)
	expectSendError(t, mailer.Send(t.Context(), newEmail()), "connection refused", true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := mailer.Send(ctx, newEmail()); !errors.Is(err, context.Canceled) || !IsTemporary(err) {
		t.Errorf("got %v", err)
	}
}

// TestMailerDialsIPv6Address checks that an IPv6 address is dialed correctly, whatever
// address the library passes.
func TestMailerDialsIPv6Address(t *testing.T) {
	t.Parallel()
	server := startSMTPServer(t, configv1alpha1.STARTTLS)
	dialed := connection{mailer: server.newMailer(configv1alpha1.STARTTLS)}
	defer dialed.close()
	conn, err := dialed.dialer(t.Context())(t.Context(), "tcp", "::1:587")
	if err != nil || conn.RemoteAddr().String() != server.addr.String() {
		t.Errorf("got connection %v, error %v", conn, err)
	}
	if got := (&Mailer{Host: "::1", Port: 587}).address(); got != "[::1]:587" {
		t.Errorf("got address %s, want [::1]:587", got)
	}
}

// TestMailerRejectsHeaderInjection checks that an invalid recipient never becomes a
// header, even if validation is bypassed.
func TestMailerRejectsHeaderInjection(t *testing.T) {
	t.Parallel()
	server := startSMTPServer(t, configv1alpha1.STARTTLS)
	for _, edit := range []func(*Message){
		func(m *Message) { m.Recipient = "ada@acme.example\r\nBcc: eve@evil.example" },
		func(m *Message) { m.TenantName = "acme\r\nBcc: eve@evil.example" },
		func(m *Message) { m.Code = "1\r\nBcc: eve@evil.example" },
	} {
		_ = server.newMailer(configv1alpha1.STARTTLS).Send(t.Context(), newEmail(edit))
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	for _, received := range server.received {
		got, err := stdmail.ReadMessage(strings.NewReader(received))
		if err != nil {
			t.Fatal(err)
		}
		if got.Header.Get("Bcc") != "" || len(server.to) != 1 {
			t.Errorf("header was injected:\n%s", received)
		}
	}
}
