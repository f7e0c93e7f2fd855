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

// sendTimeout is the maximum total time to hand over a message.
const sendTimeout = 10 * time.Second

// A Sender hands a message over to a delivery service. Its errors contain neither the
// recipient nor the code. IsTemporary reports which errors are worth a retry.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

// temporaryError is an error that may not recur if the message is sent again.
type temporaryError struct{ error }

// Unwrap returns the wrapped error.
func (t temporaryError) Unwrap() error { return t.error }

// IsTemporary reports whether sending the message again may succeed after this error.
func IsTemporary(err error) bool { return errors.As(err, new(temporaryError)) }

// markTemporary marks an error as temporary if temporary is true.
func markTemporary(temporary bool, err error) error {
	if temporary {
		return temporaryError{err}
	}
	return err
}

var errSendTimeout = errors.New("timed out after " + sendTimeout.String())

// safeConnectionError describes a connection error without leaking content. It keeps
// only network and TLS errors, which contain no part of the message. Network errors
// are temporary; a rejected certificate is permanent.
func safeConnectionError(ctx context.Context, err error) error {
	var (
		verification *tls.CertificateVerificationError
		alert        tls.AlertError
		record       tls.RecordHeaderError
		unknown      x509.UnknownAuthorityError
		network      *net.OpError
	)
	switch {
	case errors.As(err, &verification):
		return verification
	case errors.As(err, &unknown):
		return unknown
	case errors.As(err, &record):
		return errors.New("server does not use TLS on this port")
	case errors.As(err, &alert):
		return alert
	case errors.Is(ctx.Err(), context.Canceled):
		return temporaryError{context.Canceled}
	case ctx.Err() != nil, isTimeout(err):
		return temporaryError{errSendTimeout}
	case errors.As(err, &network):
		return temporaryError{network}
	default:
		return temporaryError{errors.New("connection lost")}
	}
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
