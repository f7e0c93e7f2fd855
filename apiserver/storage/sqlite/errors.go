// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// constraintErrors maps SQLite's extended result codes
// (https://www.sqlite.org/rescode.html) to errors of package storage.
var constraintErrors = map[int]error{
	codes.SQLITE_CONSTRAINT_UNIQUE:     record.ErrAlreadyExists,
	codes.SQLITE_CONSTRAINT_PRIMARYKEY: record.ErrAlreadyExists,
	codes.SQLITE_CONSTRAINT_FOREIGNKEY: record.ErrReferenceNotFound,
}

// wrapError adds the failed operation to err. The result wraps the errors of package
// storage.
func wrapError(operation string, err error) error {
	var driverErr *driver.Error
	switch {
	case isBusy(err):
		return fmt.Errorf("%s: %w", operation, record.ErrConflict)
	case errors.As(err, &driverErr) && constraintErrors[driverErr.Code()] != nil:
		return fmt.Errorf("%s: %w", operation, constraintErrors[driverErr.Code()])
	}
	return fmt.Errorf("%s: %w", operation, err)
}
