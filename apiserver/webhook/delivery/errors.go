// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
)

// Reasons why a delivery failed. They are stored and shown to users, so they contain no
// details of the network.
var (
	errInvalidURL            = errors.New("the receiver URL is invalid; change url")
	errTimeout               = errors.New("the receiver did not answer within 15 seconds")
	errNameNotResolved       = errors.New("the receiver host name cannot be resolved")
	errConnectionRefused     = errors.New("the receiver refused the connection")
	errConnectionReset       = errors.New("the receiver closed the connection")
	errUnreachable           = errors.New("the receiver is unreachable")
	errCertificateNotTrusted = errors.New("the receiver certificate is not trusted; use a valid certificate for the host name from a trusted CA")
	errInvalidResponse       = errors.New("the receiver sent an invalid HTTP response")

	errInvalidCABundle = errors.New("webhooks.ca contains no PEM certificate")
)

// publicErrors maps round-trip errors to public errors. The first match wins.
var publicErrors = []struct {
	is     func(error) bool
	reason error
}{
	{matchesError(errAddressNotAllowed), errAddressNotAllowed},
	{matchesType[*tls.CertificateVerificationError], errCertificateNotTrusted},
	{matchesType[x509.UnknownAuthorityError], errCertificateNotTrusted},
	{matchesType[x509.HostnameError], errCertificateNotTrusted},
	{matchesType[*net.DNSError], errNameNotResolved},
	{matchesError(syscall.ECONNREFUSED), errConnectionRefused},
	{matchesError(syscall.ECONNRESET), errConnectionReset},
	{matchesError(syscall.EPIPE), errConnectionReset},
	{matchesError(io.EOF), errConnectionReset},
	{matchesError(io.ErrUnexpectedEOF), errConnectionReset},
	{matchesType[*net.OpError], errUnreachable},
}

func matchesError(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func matchesType[T error](err error) bool {
	_, found := errors.AsType[T](err)
	return found
}

// publicError maps err to a public error. It returns context.Canceled if the caller
// canceled the attempt.
func publicError(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	if timeout, found := errors.AsType[net.Error](err); ctx.Err() != nil || found && timeout.Timeout() {
		return errTimeout
	}
	for _, known := range publicErrors {
		if known.is(err) {
			return known.reason
		}
	}
	return errInvalidResponse
}

// newRootCAs returns the system's CA certificates plus those of a PEM bundle. For an
// empty bundle it returns nil, which selects the system's pool.
func newRootCAs(authorities string) (*x509.CertPool, error) {
	if authorities == "" {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM([]byte(authorities)) {
		return nil, errInvalidCABundle
	}
	return roots, nil
}
