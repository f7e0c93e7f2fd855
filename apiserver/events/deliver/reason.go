// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
)

// Why a receiver was not told. The texts are kept and shown: they say nothing of what
// was found where.
var (
	errRequest     = errors.New("the address of the receiver cannot be called; change url")
	errTimeout     = errors.New("the receiver did not answer within 15 seconds")
	errName        = errors.New("the name of the receiver cannot be resolved")
	errRefused     = errors.New("the receiver refuses connections")
	errReset       = errors.New("the receiver broke the connection off")
	errUnreachable = errors.New("the receiver cannot be reached")
	errCertificate = errors.New("the certificate of the receiver is not one for its name that an authority which we believe issued, and still good")
	errAnswer      = errors.New("the receiver does not answer as HTTP wants")

	errAuthorities = errors.New("webhooks.ca of the configuration holds no certificate in PEM")
)

// reasons are what errors of a round trip come to, in the order in which they are looked
// for.
var reasons = []struct {
	is     func(error) bool
	reason error
}{
	{is(errAddress), errAddress},
	{as[*tls.CertificateVerificationError], errCertificate},
	{as[x509.UnknownAuthorityError], errCertificate},
	{as[x509.HostnameError], errCertificate},
	{as[*net.DNSError], errName},
	{is(syscall.ECONNREFUSED), errRefused},
	{is(syscall.ECONNRESET), errReset},
	{is(syscall.EPIPE), errReset},
	{is(io.EOF), errReset},
	{is(io.ErrUnexpectedEOF), errReset},
	{as[*net.OpError], errUnreachable},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func as[T error](err error) bool {
	_, found := errors.AsType[T](err)
	return found
}

// reason is why an attempt failed, in words of our own. It is context.Canceled where we
// broke it off.
func reason(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	if timeout, found := errors.AsType[net.Error](err); ctx.Err() != nil || found && timeout.Timeout() {
		return errTimeout
	}
	for _, known := range reasons {
		if known.is(err) {
			return known.reason
		}
	}
	return errAnswer
}

// Roots are the authorities of the system with those of a text in PEM. They are nil, which
// means the system's, for an empty one.
func Roots(authorities string) (*x509.CertPool, error) {
	if authorities == "" {
		return nil, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM([]byte(authorities)) {
		return nil, errAuthorities
	}
	return roots, nil
}
