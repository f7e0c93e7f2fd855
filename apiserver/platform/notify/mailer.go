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
func (m Mailer) String() string { return "mail server " + m.address() }

// authMechanisms are the supported authentication mechanisms in order of preference.
// All are used over TLS only.
var authMechanisms = []mail.SMTPAuthType{
	mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthPlain, mail.SMTPAuthLogin, mail.SMTPAuthCramMD5,
}

// Send implements Sender.
func (m *Mailer) Send(ctx context.Context, message Message) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	email, err := m.compose(message)
	if err != nil {
		return fmt.Errorf("composing email: %w", err)
	}
	conn := &connection{mailer: m}
	defer conn.close()
	client, err := mail.NewClient(m.Host, m.clientOptions(conn.dialer(ctx))...)
	if err != nil {
		return fmt.Errorf("configuring the client for mail server %s: inconsistent SMTP settings", m.address())
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("connecting to mail server %s: %w", m.address(), m.dialError(ctx, err))
	}
	if err := client.SendWithSMTPClient(session, email); err != nil {
		return m.sendError(ctx, email, err)
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
	email := mail.NewMsg(mail.WithNoDefaultUserAgent())
	email.FromMailAddress(&m.From)
	if email.To(message.Recipient) != nil {
		return nil, errors.New("invalid recipient: expected an email address")
	}
	email.Subject(words.subject)
	email.SetDate()
	email.SetMessageIDWithValue(uuid.NewString() + m.From.Address[strings.LastIndexByte(m.From.Address, '@'):])
	email.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: suppresses automatic replies
	email.SetBodyString(mail.TypeTextPlain, words.text)
	return email, nil
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
func (c *connection) dialer(sendCtx context.Context) mail.DialContextFunc {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, c.mailer.address())
		if err != nil {
			return nil, err
		}
		c.conn, c.stopWatching = conn, context.AfterFunc(sendCtx, func() { _ = conn.Close() })
		if c.mailer.Encryption != configv1alpha1.ImplicitTLS {
			return conn, nil
		}
		encrypted := tls.Client(conn, c.mailer.tlsConfig())
		return encrypted, encrypted.HandshakeContext(ctx)
	}
}

func (c *connection) close() {
	if c.conn != nil {
		c.stopWatching()
		_ = c.conn.Close()
	}
}

// dialError describes why no session could be established. It includes only the code of
// the server's reply, because a server may echo what it was sent.
func (m *Mailer) dialError(ctx context.Context, err error) error {
	var reply *textproto.Error
	switch {
	case errors.As(err, &reply):
		return markTemporary(isTransientCode(reply.Code), fmt.Errorf("server replied %d before a message was sent%s", reply.Code, authHint(reply.Code)))
	case strings.Contains(err.Error(), "does not support STARTTLS"):
		return errors.New("server does not offer STARTTLS, and unencrypted delivery is not supported; set smtp.tls to tls for implicit TLS")
	case errors.Is(err, mail.ErrNoSupportedAuthDiscovered), strings.Contains(err.Error(), "not support SMTP AUTH"):
		return fmt.Errorf("server offers none of the supported authentication mechanisms %q; remove smtp.username and smtp.password if the server needs no authentication", authMechanisms)
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

// sendError describes why a message was not sent. A message that was accepted before
// the connection broke counts as sent.
func (m *Mailer) sendError(ctx context.Context, email *mail.Msg, err error) error {
	if email.IsDelivered() {
		return nil
	}
	var failed *mail.SendError
	if !errors.As(err, &failed) || failed.ErrorCode() == 0 {
		return fmt.Errorf("sending a message to mail server %s: %w", m.address(), safeConnectionError(ctx, err))
	}
	stage, known := sendStages[failed.Reason]
	if !known {
		stage = "a command"
	}
	problem := fmt.Errorf("mail server %s rejected %s with %s", m.address(), stage,
		strings.TrimSpace(fmt.Sprint(failed.ErrorCode(), " ", failed.EnhancedStatusCode())))
	return markTemporary(isTransientCode(failed.ErrorCode()), problem)
}
