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
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	username = "mailer"
	password = "my-secret-password"
)

// A mailServer is a real one on loopback, which keeps what it is sent.
type mailServer struct {
	at   net.Addr
	pool *x509.CertPool

	needsAuth bool
	refuse    map[string]error // by command: auth, from, rcpt, data

	mu       sync.Mutex
	from     string
	to       []string
	received []string
	signedIn []string
}

// selfSigned is a certificate for 127.0.0.1 that signed itself.
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

// serveMail runs a mail server of one kind of encryption; "" is without.
func serveMail(t testing.TB, encryption Encryption, edits ...func(*mailServer)) *mailServer {
	t.Helper()
	certificate, pool := selfSigned(t)
	s := &mailServer{pool: pool, refuse: map[string]error{}}
	for _, edit := range edits {
		edit(s)
	}
	server := smtp.NewServer(s)
	server.Domain, server.ErrorLog, server.EnableSMTPUTF8 = "localhost", silent{}, true
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.at = listener.Addr()
	switch encryption {
	case STARTTLS:
		server.TLSConfig = config
	case ImplicitTLS:
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
		_ = listener.Close() // which the server does not know yet when nobody called
		<-ended
	})
	return s
}

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

// NewSession implements smtp.Backend.
func (s *mailServer) NewSession(*smtp.Conn) (smtp.Session, error) { return &mailSession{of: s}, nil }

type mailSession struct {
	of     *mailServer
	known  bool
	to     []string
	sender string
}

func (s *mailSession) AuthMechanisms() []string {
	if s.of.needsAuth {
		return []string{sasl.Plain}
	}
	return nil
}

func (s *mailSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, pass string) error {
		if err := s.of.refuse["auth"]; err != nil {
			return err
		}
		if user != username || pass != password {
			return &smtp.SMTPError{Code: 535, EnhancedCode: smtp.EnhancedCode{5, 7, 8}, Message: "bad password " + pass}
		}
		s.known = true
		s.of.mu.Lock()
		defer s.of.mu.Unlock()
		s.of.signedIn = append(s.of.signedIn, user)
		return nil
	}), nil
}

func (s *mailSession) Mail(from string, _ *smtp.MailOptions) error {
	if s.of.needsAuth && !s.known {
		return smtp.ErrAuthRequired
	}
	s.sender = from
	return s.of.refuse["from"]
}

func (s *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return s.of.refuse["rcpt"]
}

func (s *mailSession) Data(r io.Reader) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.of.refuse["data"]; err != nil {
		return err
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.from, s.of.to, s.of.received = s.sender, s.to, append(s.of.received, string(content))
	return nil
}

func (*mailSession) Reset()        {}
func (*mailSession) Logout() error { return nil }

// mailer is one that is right for a server.
func (s *mailServer) mailer(encryption Encryption) *Mailer {
	address := s.at.(*net.TCPAddr)
	m := &Mailer{
		Host: address.IP.String(), Port: address.Port, Encryption: encryption, Roots: s.pool,
		From: stdmail.Address{Name: "Müller & Söhne", Address: "no-reply@acme.example"},
	}
	if s.needsAuth {
		m.Username, m.Password = username, password
	}
	return m
}

func withAuth(s *mailServer) { s.needsAuth = true }

func TestMailerSends(t *testing.T) {
	t.Parallel()
	for _, encryption := range []Encryption{STARTTLS, ImplicitTLS} {
		for name, edits := range map[string][]func(*mailServer){"anonymous": nil, "signed in": {withAuth}} {
			t.Run(string(encryption)+" "+name, func(t *testing.T) {
				t.Parallel()
				server := serveMail(t, encryption, edits...)
				message := mailMessage(func(m *Message) { m.Language = "de" })
				if err := server.mailer(encryption).Send(t.Context(), message); err != nil {
					t.Fatal(err)
				}
				server.mu.Lock()
				defer server.mu.Unlock()
				if len(server.received) != 1 || server.from != "no-reply@acme.example" || len(server.to) != 1 || server.to[0] != message.Recipient {
					t.Fatalf("received %v from %s to %v", server.received, server.from, server.to)
				}
				if len(server.signedIn) != len(edits) {
					t.Errorf("signed in %v", server.signedIn)
				}
				expectLetter(t, server.received[0], message)
			})
		}
	}
}

// expectLetter reads an e-mail as a client does.
func expectLetter(t *testing.T, received string, message Message) {
	t.Helper()
	got, err := stdmail.ReadMessage(strings.NewReader(received))
	if err != nil {
		t.Fatal(err)
	}
	from, err := got.Header.AddressList("From")
	if err != nil || len(from) != 1 || from[0].Name != "Müller & Söhne" {
		t.Errorf("from %v, %v", from, err)
	}
	for name, want := range map[string]string{
		"Auto-Submitted": "auto-generated", "To": "<" + message.Recipient + ">",
		"Subject": "=?UTF-8?q?Ihr_Code_f=C3=BCr_acme?=", "User-Agent": "", "X-Mailer": "", "Bcc": "",
		"Content-Type": "text/plain; charset=UTF-8",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.Header.Get(name), want)
		}
	}
	if !strings.HasSuffix(got.Header.Get("Message-ID"), "@acme.example>") {
		t.Errorf("Message-ID is %s", got.Header.Get("Message-ID"))
	}
	if date, err := got.Header.Date(); err != nil || time.Since(date) > time.Minute {
		t.Errorf("dated %v, %v", date, err)
	}
	body, err := io.ReadAll(got.Body)
	if err != nil || !strings.Contains(string(body), "f=C3=BCr die Anmeldung bei acme: "+message.Code) {
		t.Errorf("the body is %s, %v", body, err)
	}
}

func TestMailerFails(t *testing.T) {
	t.Parallel()
	refusing := func(command string, code int) func(*mailServer) {
		return func(s *mailServer) {
			s.refuse[command] = &smtp.SMTPError{
				Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1},
				Message: "not ada@acme.example with " + mailMessage().Code + " nor " + password,
			}
		}
	}
	for name, test := range map[string]struct {
		server    Encryption
		edit      func(*mailServer)
		settings  func(*Mailer)
		problem   string
		temporary bool
	}{
		"no STARTTLS":               {problem: "does not offer STARTTLS"},
		"no STARTTLS, with a key":   {edit: withAuth, problem: "does not offer STARTTLS"},
		"no TLS":                    {settings: func(m *Mailer) { m.Encryption = ImplicitTLS }, problem: "does not speak TLS"},
		"a stranger's certificate":  {server: STARTTLS, settings: func(m *Mailer) { m.Roots = x509.NewCertPool() }, problem: "unknown authority"},
		"nobody's certificate":      {server: STARTTLS, settings: func(m *Mailer) { m.Roots = nil }, problem: "unknown authority"},
		"another's name":            {server: STARTTLS, settings: func(m *Mailer) { m.Host = "localhost" }, problem: "certificate"},
		"a stranger's, over TLS":    {server: ImplicitTLS, settings: func(m *Mailer) { m.Roots = x509.NewCertPool() }, problem: "unknown authority"},
		"wrong password":            {server: STARTTLS, edit: withAuth, settings: func(m *Mailer) { m.Password += "x" }, problem: "answered 535 before a message was sent: smtp.username or smtp.password is wrong"},
		"no password":               {server: STARTTLS, edit: withAuth, settings: func(m *Mailer) { m.Username = "" }, problem: "refused the sender with 502"},
		"a password nobody asks":    {server: STARTTLS, settings: func(m *Mailer) { m.Username, m.Password = username, password }, problem: "no way of signing in"},
		"signing in later":          {server: ImplicitTLS, edit: func(s *mailServer) { withAuth(s); refusing("auth", 454)(s) }, problem: "answered 454", temporary: true},
		"sender refused":            {server: STARTTLS, edit: refusing("from", 550), problem: "refused the sender with 550"},
		"recipient refused":         {server: STARTTLS, edit: refusing("rcpt", 550), problem: "refused the recipient with 550"},
		"recipient refused for now": {server: ImplicitTLS, edit: refusing("rcpt", 451), problem: "refused the recipient with 451", temporary: true},
		"message refused":           {server: STARTTLS, edit: refusing("data", 554), problem: "refused the message with 554"},
		"message refused for now":   {server: STARTTLS, edit: refusing("data", 452), problem: "refused the message with 452", temporary: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			edit := test.edit
			if edit == nil {
				edit = func(*mailServer) {}
			}
			server := serveMail(t, test.server, edit)
			encryption := test.server
			if encryption == "" {
				encryption = STARTTLS
			}
			mailer := server.mailer(encryption)
			if test.settings != nil {
				test.settings(mailer)
			}
			err := mailer.Send(t.Context(), mailMessage())
			expectFailure(t, err, test.problem, test.temporary)
			if server.received != nil || server.signedIn != nil && test.problem == "does not offer STARTTLS" {
				t.Error("something was sent")
			}
		})
	}
}

// expectFailure fails unless an error says what is wrong, and nothing else.
func expectFailure(t *testing.T, err error, problem string, temporary bool) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), problem) || IsTemporary(err) != temporary {
		t.Fatalf("got %v, temporary %v; expected a complaint about %q", err, IsTemporary(err), problem)
	}
	for _, m := range []Message{mailMessage(), textMessage()} {
		expectSilent(t, err.Error(), m)
	}
	if strings.Contains(err.Error(), password) {
		t.Errorf("the password is told: %v", err)
	}
}

// A server that says nothing is left, whatever was expected of it.
func TestMailerLeavesSilence(t *testing.T) {
	t.Parallel()
	for _, encryption := range []Encryption{STARTTLS, ImplicitTLS} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		mailer := (&mailServer{at: listener.Addr()}).mailer(encryption)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		expectFailure(t, mailer.Send(ctx, mailMessage()), "longer than", true)
	}
}

// A server that falls silent in the middle is left as well.
func TestMailerLeavesSilenceLater(t *testing.T) {
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
	err = (&mailServer{at: listener.Addr()}).mailer(STARTTLS).Send(ctx, mailMessage())
	expectFailure(t, err, "longer than", true)
}

func TestMailerOfNobody(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	mailer := (&mailServer{at: listener.Addr()}).mailer(STARTTLS)
	expectFailure(t, mailer.Send(t.Context(), mailMessage()), "connection refused", true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := mailer.Send(ctx, mailMessage()); !errors.Is(err, context.Canceled) || !IsTemporary(err) {
		t.Errorf("got %v", err)
	}
}

// An address of IPv6 is dialled as one, whatever the library makes of it.
func TestMailerDialsItsServer(t *testing.T) {
	t.Parallel()
	server := serveMail(t, STARTTLS)
	line := line{to: server.mailer(STARTTLS)}
	defer line.close()
	conn, err := line.dialer(t.Context())(t.Context(), "tcp", "::1:587")
	if err != nil || conn.RemoteAddr().String() != server.at.String() {
		t.Errorf("dialled %v, %v", conn, err)
	}
	if got := (&Mailer{Host: "::1", Port: 587}).address(); got != "[::1]:587" {
		t.Errorf("the address is %s", got)
	}
}

// A recipient that is none of ours never becomes a header, not even past check.
func TestMailerTakesNoHeaders(t *testing.T) {
	t.Parallel()
	server := serveMail(t, STARTTLS)
	for _, edit := range []func(*Message){
		func(m *Message) { m.Recipient = "ada@acme.example\r\nBcc: eve@evil.example" },
		func(m *Message) { m.Tenant = "acme\r\nBcc: eve@evil.example" },
		func(m *Message) { m.Code = "1\r\nBcc: eve@evil.example" },
	} {
		_ = server.mailer(STARTTLS).Send(t.Context(), mailMessage(edit))
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	for _, received := range server.received {
		got, err := stdmail.ReadMessage(strings.NewReader(received))
		if err != nil {
			t.Fatal(err)
		}
		if got.Header.Get("Bcc") != "" || len(server.to) != 1 {
			t.Errorf("a header was added:\n%s", received)
		}
	}
}
