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

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

const testPassword = "hunter2"

// newDialError returns an error like those of pgx and net, with the secret in its
// message.
func newDialError(cause error) error {
	config, err := pgconn.ParseConfig("postgres://" + testPassword + ":" + testPassword + "@127.0.0.1/" + testPassword)
	if err != nil {
		panic(err)
	}
	return errors.Join(errors.New(testPassword), fmt.Errorf("connect to %s: %w", config.User, cause))
}

func TestWrapErrorHidesSecrets(t *testing.T) {
	t.Parallel()
	address := &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 5432}
	for name, test := range map[string]struct {
		cause error
		want  string
	}{
		"wrong password":        {&pgconn.PgError{Code: "28P01", Message: testPassword}, "server rejected the user name or password (SQLSTATE 28P01)"},
		"missing database":      {&pgconn.PgError{Code: "3D000", Message: testPassword}, "database does not exist on the server (SQLSTATE 3D000)"},
		"other SQLSTATE":        {&pgconn.PgError{Code: "XX000", Message: testPassword, Detail: testPassword}, "server returned SQLSTATE XX000"},
		"connection refused":    {&net.OpError{Op: "dial", Net: "tcp", Addr: address, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "connection to the server failed: connection refused"},
		"connection reset":      {&net.OpError{Op: "read", Net: "tcp", Addr: address, Err: os.NewSyscallError("read", syscall.ECONNRESET)}, "connection to the server failed: connection reset by peer"},
		"unknown host":          {&net.DNSError{Err: "no such host", Name: testPassword, IsNotFound: true}, "database host name cannot be resolved"},
		"untrusted certificate": {&tls.CertificateVerificationError{Err: x509.HostnameError{Host: testPassword, Certificate: &x509.Certificate{}}}, "server certificate is not trusted"},
		"connect timeout":       {fmt.Errorf("%s: %w", testPassword, context.DeadlineExceeded), "server did not respond in time"},
		"read timeout":          {&net.OpError{Op: "read", Net: "tcp", Addr: address, Err: os.ErrDeadlineExceeded}, "server did not respond in time"},
		"connection closed":     {io.ErrUnexpectedEOF, "server closed the connection"},
		"unknown error":         {errors.New(testPassword), "communication with the server failed"},
		"config error":          {&pgconn.ParseConfigError{ConnString: testPassword}, "communication with the server failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := wrapError(t.Context(), "try", newDialError(test.cause))
			if want := "try: " + test.want; !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %q, want %q", err, want)
			}
			if text := fmt.Sprintf("%v %+v %#v", err, err, errors.Unwrap(err)); strings.Contains(text, testPassword) || strings.Contains(text, "10.1.2.3") {
				t.Errorf("%q contains a secret", text)
			}
		})
	}
}

// TestWrapErrorMapsConstraints checks that constraint violations map to errors of
// package storage.
func TestWrapErrorMapsConstraints(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]error{
		"23505": record.ErrAlreadyExists, "23503": record.ErrReferenceNotFound, "40001": record.ErrConflict, "40P01": record.ErrConflict,
	} {
		err := wrapError(t.Context(), "try", newDialError(&pgconn.PgError{Code: code, Message: testPassword, ConstraintName: testPassword}))
		if !errors.Is(err, want) || err.Error() != "try: "+want.Error() {
			t.Errorf("%s: got %v, want %v", code, err, want)
		}
	}
}

// TestWrapErrorPrefersContextError checks that the context's error takes precedence once
// ctx is done.
func TestWrapErrorPrefersContextError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := wrapError(ctx, "try", newDialError(syscall.ECONNRESET))
	if !errors.Is(err, context.Canceled) || err.Error() != "try: context canceled" {
		t.Errorf("got %v", err)
	}
}
