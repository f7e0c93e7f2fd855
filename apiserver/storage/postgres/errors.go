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

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// wrapError describes a failed operation in a message that is safe to log and show.
// Messages of pgx and net contain the host, user and database, and messages of the server
// may quote values, so wrapError builds its message from the type of the error only. The
// result wraps the error of ctx if ctx is the cause, and the errors of package storage.
func wrapError(ctx context.Context, operation string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", operation, ctx.Err())
	}
	if known := storageError(err); known != nil {
		return fmt.Errorf("%s: %w", operation, known)
	}
	return fmt.Errorf("%s: %s", operation, describeError(err))
}

// sqlStateErrors maps SQLSTATEs to errors of package storage.
var sqlStateErrors = map[string]error{
	"23505": record.ErrAlreadyExists,     // unique_violation
	"23503": record.ErrReferenceNotFound, // foreign_key_violation
	"40001": record.ErrConflict,          // serialization_failure
	"40P01": record.ErrConflict,          // deadlock_detected
}

// storageError returns the error of package storage that corresponds to err, or nil.
func storageError(err error) error {
	var server *pgconn.PgError
	if errors.As(err, &server) {
		return sqlStateErrors[server.Code]
	}
	for _, known := range []error{record.ErrNotOpen, record.ErrAlreadyExists, record.ErrReferenceNotFound, record.ErrConflict} {
		if errors.Is(err, known) {
			return known
		}
	}
	return nil
}

func describeError(err error) string {
	var (
		server      *pgconn.PgError
		certificate *tls.CertificateVerificationError
		name        *net.DNSError
		system      syscall.Errno
	)
	switch {
	case errors.As(err, &server):
		return describeServerError(server)
	case errors.As(err, &certificate):
		return "server certificate is not trusted; set sslrootcert in the database URL to its CA, and use a host name that the certificate covers"
	case errors.As(err, &name):
		return "database host name cannot be resolved"
	case isTimeout(err):
		return "server did not respond in time"
	case errors.As(err, &system):
		return "connection to the server failed: " + system.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, pgconn.ErrConnClosed):
		return "server closed the connection"
	}
	return "communication with the server failed; check host, port and sslmode in the database URL"
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &network) && network.Timeout()
}

// serverErrorDescriptions describes the SQLSTATEs that an invalid URL or server setup
// usually causes (PostgreSQL manual, appendix A).
var serverErrorDescriptions = map[string]string{
	"28P01": "server rejected the user name or password",
	"28000": "server does not accept this user from this address, or without TLS; check pg_hba.conf",
	"3D000": "database does not exist on the server",
	"3F000": "schema does not exist in the database",
	"42501": "user lacks privileges; make it the owner of the tables, or allow it to create tables in the schema",
	"53100": "server disk is full",
	"53300": "server has too many connections; lower pool_max_conns in the database URL, or raise max_connections on the server",
	"25006": "server is read-only, such as a standby; use the primary in the database URL",
	"57P01": "server is shutting down",
	"57P02": "server crashed and is restarting",
	"57P03": "server is starting up or shutting down",
	"22003": "number is out of range",
}

func describeServerError(err *pgconn.PgError) string {
	if reason, known := serverErrorDescriptions[err.Code]; known {
		return fmt.Sprintf("%s (SQLSTATE %s)", reason, err.Code)
	}
	return fmt.Sprintf("server returned SQLSTATE %s", err.Code)
}
