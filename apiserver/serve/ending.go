// SPDX-License-Identifier: Apache-2.0

package serve

import (
	"errors"
	"os"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// foreignDatabase is the exit code of a server whose database holds the data of
// another Instance: whoever runs servers tells that from a fault of the server.
const foreignDatabase = 3

// An ending is an error with which the process ends, and its exit code.
type ending struct {
	error
	code int
}

// Unwrap is the error.
func (e *ending) Unwrap() error { return e.error }

// ExitCode is asked for by kong.
func (e *ending) ExitCode() int { return e.code }

// terminationLog is where a container in Kubernetes leaves its last words.
const terminationLog = "/dev/termination-log"

// end leaves the last words of a server that cannot go on where somebody asks for
// them, and gives the error its exit code.
func end(err error, log string) error {
	if err == nil {
		return nil
	}
	// Opened without being made: only a container has it, and nothing can be done
	// where it cannot be written.
	if file, openErr := os.OpenFile(log, os.O_WRONLY|os.O_TRUNC, 0); openErr == nil {
		_, _ = file.WriteString(err.Error())
		_ = file.Close()
	}
	if foreign := (*storage.ForeignError)(nil); errors.As(err, &foreign) {
		return &ending{err, foreignDatabase}
	}
	return err
}
