// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	stdmail "net/mail"
	"net/textproto"
	"strings"

	"github.com/google/uuid"
	"github.com/wneessen/go-mail"
)

// Encryption is how a connection to a mail server is encrypted. There is none
// without.
type Encryption string

// The ways of encryption.
const (
	STARTTLS    Encryption = "starttls" // begins in plain text, and nothing is said before it is encrypted
	ImplicitTLS Encryption = "tls"      // is encrypted from the first byte
)

// Mailer sends e-mail over SMTP, each message over a connection of its own.
type Mailer struct {
	Host       string
	Port       int
	Username   string // empty: the server asks for none
	Password   string
	From       stdmail.Address
	Encryption Encryption
	Roots      *x509.CertPool // who may sign the server's certificate; nil: those of the system
}

// String names the server, and leaves the password out.
func (m Mailer) String() string { return "the mail server " + m.address() }

// mechanisms are the ways of proving who we are, the better ones first. All are
// used over TLS only.
var mechanisms = []mail.SMTPAuthType{
	mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthPlain, mail.SMTPAuthLogin, mail.SMTPAuthCramMD5,
}

// Send implements Sender.
func (m *Mailer) Send(ctx context.Context, message Message) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	letter, err := m.compose(message)
	if err != nil {
		return fmt.Errorf("writing an e-mail: %w", err)
	}
	line := &line{to: m}
	defer line.close()
	client, err := mail.NewClient(m.Host, m.options(line.dialer(ctx))...)
	if err != nil {
		return fmt.Errorf("preparing to speak to the mail server %s: the settings do not fit together", m.address())
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the mail server %s: %w", m.address(), m.dialError(ctx, err))
	}
	if err := client.SendWithSMTPClient(session, letter); err != nil {
		return m.sendError(ctx, letter, err)
	}
	_ = client.CloseWithSMTPClient(session) // the server has taken the message
	return nil
}

func (m Mailer) address() string { return net.JoinHostPort(m.Host, fmt.Sprint(m.Port)) }

func (m *Mailer) options(dial mail.DialContextFunc) []mail.Option {
	options := []mail.Option{
		mail.WithPort(m.Port),
		mail.WithTimeout(sendTimeout),
		mail.WithTLSConfig(m.tlsConfig()),
		mail.WithDialContextFunc(dial),
		mail.WithoutNoop(),
	}
	if m.Encryption == ImplicitTLS {
		options = append(options, mail.WithSSL())
	} else {
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if m.Username != "" {
		options = append(options, mail.WithUsername(m.Username), mail.WithPassword(m.Password),
			mail.WithOpportunisticSMTPAuth(mechanisms...))
	}
	return options
}

func (m *Mailer) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: m.Host, RootCAs: m.Roots, MinVersion: tls.VersionTLS12}
}

// compose makes the e-mail of a message: one part of plain text.
func (m *Mailer) compose(message Message) (*mail.Msg, error) {
	words := message.write()
	letter := mail.NewMsg(mail.WithNoDefaultUserAgent())
	letter.FromMailAddress(&m.From)
	if letter.To(message.Recipient) != nil {
		return nil, errors.New("the recipient is not an address")
	}
	letter.Subject(words.subject)
	letter.SetDate()
	letter.SetMessageIDWithValue(uuid.NewString() + m.From.Address[strings.LastIndexByte(m.From.Address, '@'):])
	letter.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no answer is wanted
	letter.SetBodyString(mail.TypeTextPlain, words.text)
	return letter, nil
}

// A line is the connection to a server.
type line struct {
	to     *Mailer
	conn   net.Conn    // nil before there is one
	forget func() bool // stops waiting for the end of the context
}

// dialer connects, encrypted from the first byte where that is wanted. The
// connection ends with a context, whatever it waits for. The address that the
// library makes is not one where the host is of IPv6.
func (l *line) dialer(whole context.Context) mail.DialContextFunc {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, l.to.address())
		if err != nil {
			return nil, err
		}
		l.conn, l.forget = conn, context.AfterFunc(whole, func() { _ = conn.Close() })
		if l.to.Encryption != ImplicitTLS {
			return conn, nil
		}
		encrypted := tls.Client(conn, l.to.tlsConfig())
		return encrypted, encrypted.HandshakeContext(ctx)
	}
}

func (l *line) close() {
	if l.conn != nil {
		l.forget()
		_ = l.conn.Close()
	}
}

// dialError says why there is no session. A server may repeat what it was told,
// so that of its answers only the code is passed on.
func (m *Mailer) dialError(ctx context.Context, err error) error {
	var answer *textproto.Error
	switch {
	case errors.As(err, &answer):
		return temporaryIf(isPassing(answer.Code), fmt.Errorf("it answered %d before a message was sent%s", answer.Code, hint(answer.Code)))
	case strings.Contains(err.Error(), "does not support STARTTLS"):
		return errors.New("it does not offer STARTTLS, and nothing is sent unencrypted; with tls in the file smtp.tls the connection is encrypted from the beginning")
	case errors.Is(err, mail.ErrNoSupportedAuthDiscovered), strings.Contains(err.Error(), "not support SMTP AUTH"):
		return fmt.Errorf("it offers no way of signing in that we have, which are %q; leave username and password out if it needs none", mechanisms)
	default:
		return connectionError(ctx, err)
	}
}

// hint says what a refused sign-in may be about.
func hint(code int) string {
	if code == 535 {
		return ": smtp.username or smtp.password is wrong"
	}
	return ""
}

// isPassing reports whether the code of an answer says that it may be another
// one later (RFC 5321, section 4.2.1).
func isPassing(code int) bool { return code >= 400 && code < 500 }

// stages are what a server was asked when a message failed.
var stages = map[mail.SendErrReason]string{
	mail.ErrSMTPMailFrom:  "the sender",
	mail.ErrSMTPRcptTo:    "the recipient",
	mail.ErrSMTPData:      "to take a message",
	mail.ErrSMTPDataClose: "the message",
}

// sendError says why a message was not sent. One that was taken before the
// connection broke off counts as sent.
func (m *Mailer) sendError(ctx context.Context, letter *mail.Msg, err error) error {
	if letter.IsDelivered() {
		return nil
	}
	var failed *mail.SendError
	if !errors.As(err, &failed) || failed.ErrorCode() == 0 {
		return fmt.Errorf("sending a message to the mail server %s: %w", m.address(), connectionError(ctx, err))
	}
	stage, known := stages[failed.Reason]
	if !known {
		stage = "a command"
	}
	problem := fmt.Errorf("the mail server %s refused %s with %s", m.address(), stage,
		strings.TrimSpace(fmt.Sprint(failed.ErrorCode(), " ", failed.EnhancedStatusCode())))
	return temporaryIf(isPassing(failed.ErrorCode()), problem)
}
