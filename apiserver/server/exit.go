// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"os"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// exitCodeForeignDatabase is the exit code if the database belongs to another Instance. It
// lets the operator distinguish this error from a server fault.
const exitCodeForeignDatabase = 3

// An exitError is a fatal error with the exit code of the process.
type exitError struct {
	error
	code int
}

// Unwrap returns the wrapped error.
func (e *exitError) Unwrap() error { return e.error }

// ExitCode implements kong.ExitCoder.
func (e *exitError) ExitCode() int { return e.code }

// terminationLogPath is the termination message path of a Kubernetes container.
const terminationLogPath = "/dev/termination-log"

// reportExit writes a fatal error to the termination log, if it exists, and wraps it with
// its exit code.
func reportExit(err error, log string) error {
	if err == nil {
		return nil
	}
	// The file exists only in a container. Do not create it, and ignore failed writes.
	if file, openErr := os.OpenFile(log, os.O_WRONLY|os.O_TRUNC, 0); openErr == nil {
		_, _ = file.WriteString(err.Error())
		_ = file.Close()
	}
	if wrongOwner := (*storage.WrongOwnerError)(nil); errors.As(err, &wrongOwner) {
		return &exitError{err, exitCodeForeignDatabase}
	}
	return err
}
