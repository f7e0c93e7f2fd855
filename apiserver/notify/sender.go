// SPDX-License-Identifier: Apache-2.0

package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"time"
)

// sendTimeout is how long it may take to hand a message over, all in all.
const sendTimeout = 10 * time.Second

// A Sender hands one message over to who delivers it. Its errors name neither
// the recipient nor the code, and IsTemporary tells which of them may pass.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// temporary is an error that may have passed when the message is sent again.
type temporary struct{ error }

// Unwrap returns the error itself.
func (t temporary) Unwrap() error { return t.error }

// IsTemporary reports whether it may help to send a message again after this
// error.
func IsTemporary(err error) bool { return errors.As(err, new(temporary)) }

// temporaryIf marks an error.
func temporaryIf(passing bool, err error) error {
	if passing {
		return temporary{err}
	}
	return err
}

var errTooSlow = errors.New("it took longer than " + sendTimeout.String())

// connectionError says what went wrong with a connection, as far as it is safe to
// say: only what comes from the network and from TLS, of which nothing holds
// what we sent. Anything else is left out. A certificate that is refused stays
// so; networks recover.
func connectionError(ctx context.Context, err error) error {
	var (
		refused *tls.CertificateVerificationError
		alert   tls.AlertError
		record  tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		network *net.OpError
	)
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &unknown):
		return unknown
	case errors.As(err, &record):
		return errors.New("the other side does not speak TLS there")
	case errors.As(err, &alert):
		return alert
	case errors.Is(ctx.Err(), context.Canceled):
		return temporary{context.Canceled}
	case ctx.Err() != nil, isTimeout(err):
		return temporary{errTooSlow}
	case errors.As(err, &network):
		return temporary{network}
	default:
		return temporary{errors.New("the connection broke off")}
	}
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
