// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// refusals are what SQLite says when what it holds is in the way, by its extended
// result codes (https://www.sqlite.org/rescode.html).
var refusals = map[int]error{
	codes.SQLITE_CONSTRAINT_UNIQUE:     storage.ErrTaken,
	codes.SQLITE_CONSTRAINT_PRIMARYKEY: storage.ErrTaken,
	codes.SQLITE_CONSTRAINT_FOREIGNKEY: storage.ErrDangling,
}

// failure says what was being done and why it failed. It wraps the errors of
// package storage.
func failure(doing string, err error) error {
	var refused *driver.Error
	switch {
	case busy(err):
		return fmt.Errorf("%s: %w", doing, storage.ErrContended)
	case errors.As(err, &refused) && refusals[refused.Code()] != nil:
		return fmt.Errorf("%s: %w", doing, refusals[refused.Code()])
	}
	return fmt.Errorf("%s: %w", doing, err)
}
