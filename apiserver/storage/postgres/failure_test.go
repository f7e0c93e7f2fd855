// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

const secret = "hunter2"

// dialFailure is an error as pgx and net make them, with the secret in its text.
func dialFailure(cause error) error {
	config, err := pgconn.ParseConfig("postgres://" + secret + ":" + secret + "@127.0.0.1/" + secret)
	if err != nil {
		panic(err)
	}
	return errors.Join(errors.New(secret), fmt.Errorf("connect to %s: %w", config.User, cause))
}

func TestFailure(t *testing.T) {
	t.Parallel()
	address := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 5432}
	for name, test := range map[string]struct {
		cause error
		want  string
	}{
		"wrong password":   {&pgconn.PgError{Code: "28P01", Message: secret}, "the server refuses the user or the password (SQLSTATE 28P01)"},
		"no database":      {&pgconn.PgError{Code: "3D000", Message: secret}, "the database does not exist on the server (SQLSTATE 3D000)"},
		"anything else":    {&pgconn.PgError{Code: "XX000", Message: secret, Detail: secret}, "the server answered with SQLSTATE XX000"},
		"refused":          {&net.OpError{Op: "dial", Net: "tcp", Addr: address, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "no connection to the server: connection refused"},
		"reset":            {&net.OpError{Op: "read", Net: "tcp", Addr: address, Err: os.NewSyscallError("read", syscall.ECONNRESET)}, "no connection to the server: connection reset by peer"},
		"no such host":     {&net.DNSError{Err: "no such host", Name: secret, IsNotFound: true}, "the name of the database's host cannot be resolved"},
		"bad certificate":  {&tls.CertificateVerificationError{Err: x509.HostnameError{Host: secret, Certificate: &x509.Certificate{}}}, "the server's certificate is not trusted"},
		"connect timeout":  {fmt.Errorf("%s: %w", secret, context.DeadlineExceeded), "the server did not answer in time"},
		"read timeout":     {&net.OpError{Op: "read", Net: "tcp", Addr: address, Err: os.ErrDeadlineExceeded}, "the server did not answer in time"},
		"hung up":          {io.ErrUnexpectedEOF, "the server closed the connection"},
		"unheard of":       {errors.New(secret), "the server cannot be talked to"},
		"not one of those": {&pgconn.ParseConfigError{ConnString: secret}, "the server cannot be talked to"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := failure(t.Context(), "try", dialFailure(test.cause))
			if want := "try: " + test.want; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %q, want %q", err, want)
			}
			if text := fmt.Sprintf("%v %+v %#v", err, err, errors.Unwrap(err)); strings.Contains(text, secret) || strings.Contains(text, "10.1.2.3") {
				t.Errorf("%q tells a secret", text)
			}
		})
	}
}

// What the server refuses because of what it holds is an error of the domain.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]error{
		"23505": storage.ErrTaken, "23503": storage.ErrDangling, "40001": storage.ErrContended, "40P01": storage.ErrContended,
	} {
		err := failure(t.Context(), "try", dialFailure(&pgconn.PgError{Code: code, Message: secret, ConstraintName: secret}))
		if !errors.Is(err, want) || err.Error() != "try: "+want.Error() {
			t.Errorf("%s: got %v, want %v", code, err, want)
		}
	}
}

// When the caller gave up, that is the reason, whatever came of it.
func TestFailureOfContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := failure(ctx, "try", dialFailure(syscall.ECONNRESET))
	if !errors.Is(err, context.Canceled) || err.Error() != "try: context canceled" {
		t.Errorf("got %v", err)
	}
}
