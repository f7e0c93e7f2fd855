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

// Reasons for failed deliveries. They are stored and shown to users, so they contain no
// details of the network.
var (
	errInvalidURL            = errors.New("receiver URL is invalid; change url")
	errTimeout               = errors.New("receiver did not respond within 15 seconds")
	errNameNotResolved       = errors.New("receiver host name cannot be resolved")
	errConnectionRefused     = errors.New("receiver refused the connection")
	errConnectionReset       = errors.New("receiver closed the connection")
	errUnreachable           = errors.New("receiver is unreachable")
	errCertificateNotTrusted = errors.New("receiver certificate is not trusted; use a valid certificate for the host name from a trusted CA")
	errInvalidResponse       = errors.New("receiver sent an invalid HTTP response")

	errInvalidCABundle = errors.New("webhooks.ca does not contain a PEM certificate")
)

// publicErrors maps round-trip errors to public errors. The first match wins.
var publicErrors = []struct {
	matches func(error) bool
	public  error
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
		if known.matches(err) {
			return known.public
		}
	}
	return errInvalidResponse
}

// newRootCAs returns the system's CA certificates plus the certificates in a PEM bundle. For an
// empty bundle it returns nil, which selects the system's pool.
func newRootCAs(bundle string) (*x509.CertPool, error) {
	if bundle == "" {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM([]byte(bundle)) {
		return nil, errInvalidCABundle
	}
	return roots, nil
}
