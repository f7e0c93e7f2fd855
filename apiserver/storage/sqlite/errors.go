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
func wrapError(doing string, err error) error {
	var refused *driver.Error
	switch {
	case isBusy(err):
		return fmt.Errorf("%s: %w", doing, record.ErrConflict)
	case errors.As(err, &refused) && constraintErrors[refused.Code()] != nil:
		return fmt.Errorf("%s: %w", doing, constraintErrors[refused.Code()])
	}
	return fmt.Errorf("%s: %w", doing, err)
}
