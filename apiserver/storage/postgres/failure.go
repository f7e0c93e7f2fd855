// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// failure says what was being done and why it failed, in words that may be
// logged and shown. The texts of pgx and net name the host, the user and the
// database, and the server's own may quote values, so none of them is passed
// on: the error is made anew from what kind of error it is. It wraps the error
// of ctx when ctx is why, and those of package storage.
func failure(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, ctx.Err())
	}
	if known := refusal(err); known != nil {
		return fmt.Errorf("%s: %w", doing, known)
	}
	return fmt.Errorf("%s: %s", doing, reason(err))
}

// refusals are what the server says when what it holds is in the way, by SQLSTATE.
var refusals = map[string]error{
	"23505": storage.ErrTaken,     // unique_violation
	"23503": storage.ErrDangling,  // foreign_key_violation
	"40001": storage.ErrContended, // serialization_failure
	"40P01": storage.ErrContended, // deadlock_detected
}

// refusal is the error of package storage that err is, nil when it is none.
func refusal(err error) error {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return refusals[server.Code]
	}
	for _, ours := range []error{storage.ErrNotOpen, storage.ErrTaken, storage.ErrDangling, storage.ErrContended} {
		if errors.Is(err, ours) {
			return ours
		}
	}
	return nil
}

func reason(err error) string {
	var (
		server      *pgconn.PgError
		certificate *tls.CertificateVerificationError
		name        *net.DNSError
		system      syscall.Errno
	)
	switch {
	case errors.As(err, &server):
		return serverReason(server)
	case errors.As(err, &certificate):
		return "the server's certificate is not trusted; sslrootcert in the database URL has to name its CA, and the host has to be one of its names"
	case errors.As(err, &name):
		return "the name of the database's host cannot be resolved"
	case timeout(err):
		return "the server did not answer in time"
	case errors.As(err, &system):
		return "no connection to the server: " + system.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, pgconn.ErrConnClosed):
		return "the server closed the connection"
	}
	return "the server cannot be talked to; host, port and sslmode in the database URL have to be those of a PostgreSQL server"
}

func timeout(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &network) && network.Timeout()
}

// serverReasons are what the server most likely says when the URL or the
// server's setup is wrong, by SQLSTATE (PostgreSQL manual, appendix A).
var serverReasons = map[string]string{
	"28P01": "the server refuses the user or the password",
	"28000": "the server does not let this user in from here, or without TLS",
	"3D000": "the database does not exist on the server",
	"3F000": "the schema does not exist in the database",
	"42501": "the user lacks a privilege: it has to own the tables or be allowed to create them in the schema",
	"53100": "the server's disk is full",
	"53300": "the server has too many connections; lower pool_max_conns in the database URL or raise its limit",
	"25006": "the server is read-only, as a standby is; name the primary in the database URL",
	"57P01": "the server is shutting down",
	"57P02": "the server crashed and is restarting",
	"57P03": "the server is starting up or shutting down",
	"22003": "a number would be too large",
}

func serverReason(err *pgconn.PgError) string {
	if reason, known := serverReasons[err.Code]; known {
		return fmt.Sprintf("%s (SQLSTATE %s)", reason, err.Code)
	}
	return fmt.Sprintf("the server answered with SQLSTATE %s", err.Code)
}
