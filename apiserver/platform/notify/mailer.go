// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strings"

	"github.com/google/uuid"
	"github.com/wneessen/go-mail"

	configv1alpha1 "github.com/anamnesis-dev/anamnesis/api/config/v1alpha1"
)

// Mailer sends email with SMTP settings, using a separate connection for each message.
type Mailer configv1alpha1.SMTP

// String returns the server's address without the password.
func (m Mailer) String() string { return "the mail server " + m.address() }

// authMechanisms are the supported authentication mechanisms in order of preference.
// All are used over TLS only.
var authMechanisms = []mail.SMTPAuthType{
	mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthPlain, mail.SMTPAuthLogin, mail.SMTPAuthCramMD5,
}

// Send implements Sender.
func (m *Mailer) Send(ctx context.Context, message Message) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	letter, err := m.compose(message)
	if err != nil {
		return fmt.Errorf("composing email: %w", err)
	}
	line := &connection{mailer: m}
	defer line.close()
	client, err := mail.NewClient(m.Host, m.clientOptions(line.dialer(ctx))...)
	if err != nil {
		return fmt.Errorf("configuring the client for the mail server %s: the SMTP settings are inconsistent", m.address())
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the mail server %s: %w", m.address(), m.dialError(ctx, err))
	}
	if err := client.SendWithSMTPClient(session, letter); err != nil {
		return m.sendError(ctx, letter, err)
	}
	_ = client.CloseWithSMTPClient(session) // the server has already accepted the message
	return nil
}

func (m Mailer) address() string { return net.JoinHostPort(m.Host, fmt.Sprint(m.Port)) }

func (m *Mailer) clientOptions(dial mail.DialContextFunc) []mail.Option {
	options := []mail.Option{
		mail.WithPort(m.Port),
		mail.WithTimeout(sendTimeout),
		mail.WithTLSConfig(m.tlsConfig()),
		mail.WithDialContextFunc(dial),
		mail.WithoutNoop(),
	}
	if m.Encryption == configv1alpha1.ImplicitTLS {
		options = append(options, mail.WithSSL())
	} else {
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if m.Username != "" {
		options = append(options, mail.WithUsername(m.Username), mail.WithPassword(m.Password),
			mail.WithOpportunisticSMTPAuth(authMechanisms...))
	}
	return options
}

func (m *Mailer) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: m.Host, RootCAs: m.RootCAs, MinVersion: tls.VersionTLS12}
}

// compose builds the email of a message: a single plain-text part.
func (m *Mailer) compose(message Message) (*mail.Msg, error) {
	words := message.render()
	letter := mail.NewMsg(mail.WithNoDefaultUserAgent())
	letter.FromMailAddress(&m.From)
	if letter.To(message.Recipient) != nil {
		return nil, errors.New("the recipient is not an email address")
	}
	letter.Subject(words.subject)
	letter.SetDate()
	letter.SetMessageIDWithValue(uuid.NewString() + m.From.Address[strings.LastIndexByte(m.From.Address, '@'):])
	letter.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: suppresses automatic replies
	letter.SetBodyString(mail.TypeTextPlain, words.text)
	return letter, nil
}

// A connection is a connection to a mail server.
type connection struct {
	mailer       *Mailer
	conn         net.Conn    // nil until connected
	stopWatching func() bool // stops watching the context
}

// dialer returns a function that connects, with implicit TLS if configured. The
// connection closes when the context is done, whatever it is waiting for. The address
// passed by the library is ignored because it is malformed for IPv6 hosts.
func (l *connection) dialer(whole context.Context) mail.DialContextFunc {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, l.mailer.address())
		if err != nil {
			return nil, err
		}
		l.conn, l.stopWatching = conn, context.AfterFunc(whole, func() { _ = conn.Close() })
		if l.mailer.Encryption != configv1alpha1.ImplicitTLS {
			return conn, nil
		}
		encrypted := tls.Client(conn, l.mailer.tlsConfig())
		return encrypted, encrypted.HandshakeContext(ctx)
	}
}

func (l *connection) close() {
	if l.conn != nil {
		l.stopWatching()
		_ = l.conn.Close()
	}
}

// dialError explains why no session could be established. A server may echo what it
// was sent, so only the code of its reply is passed on.
func (m *Mailer) dialError(ctx context.Context, err error) error {
	var answer *textproto.Error
	switch {
	case errors.As(err, &answer):
		return markTemporary(isTransientCode(answer.Code), fmt.Errorf("server replied %d before a message was sent%s", answer.Code, authHint(answer.Code)))
	case strings.Contains(err.Error(), "does not support STARTTLS"):
		return errors.New("the server does not offer STARTTLS, and unencrypted delivery is not supported; set smtp.tls to tls for implicit TLS")
	case errors.Is(err, mail.ErrNoSupportedAuthDiscovered), strings.Contains(err.Error(), "not support SMTP AUTH"):
		return fmt.Errorf("the server offers none of the supported authentication mechanisms %q; remove smtp.username and smtp.password if it needs no authentication", authMechanisms)
	default:
		return safeConnectionError(ctx, err)
	}
}

// authHint suggests causes of a failed authentication.
func authHint(code int) string {
	if code == 535 {
		return ": smtp.username or smtp.password is wrong"
	}
	return ""
}

// isTransientCode reports whether a reply code is a transient failure (RFC 5321,
// section 4.2.1).
func isTransientCode(code int) bool { return code >= 400 && code < 500 }

// sendStages name the SMTP command that failed, by error reason.
var sendStages = map[mail.SendErrReason]string{
	mail.ErrSMTPMailFrom:  "the sender",
	mail.ErrSMTPRcptTo:    "the recipient",
	mail.ErrSMTPData:      "the DATA command",
	mail.ErrSMTPDataClose: "the message",
}

// sendError explains why a message was not sent. A message that was accepted before
// the connection broke counts as sent.
func (m *Mailer) sendError(ctx context.Context, letter *mail.Msg, err error) error {
	if letter.IsDelivered() {
		return nil
	}
	var failed *mail.SendError
	if !errors.As(err, &failed) || failed.ErrorCode() == 0 {
		return fmt.Errorf("sending a message to the mail server %s: %w", m.address(), safeConnectionError(ctx, err))
	}
	stage, known := sendStages[failed.Reason]
	if !known {
		stage = "a command"
	}
	problem := fmt.Errorf("the mail server %s rejected %s with %s", m.address(), stage,
		strings.TrimSpace(fmt.Sprint(failed.ErrorCode(), " ", failed.EnhancedStatusCode())))
	return markTemporary(isTransientCode(failed.ErrorCode()), problem)
}
