// SPDX-License-Identifier: Apache-2.0

package record

import "errors"

// Errors of storing and reading records.
var (
	// ErrNotFound indicates that a record does not exist.
	ErrNotFound = errors.New("not found")
	// ErrAlreadyExists indicates that a unique value is already in use.
	ErrAlreadyExists = errors.New("already exists")
	// ErrReferenceNotFound indicates that a referenced record does not exist.
	ErrReferenceNotFound = errors.New("referenced object does not exist")
	// ErrConflict indicates a conflict with a concurrent transaction. Retrying may help.
	ErrConflict = errors.New("conflict with a concurrent transaction")
	// ErrVersionMismatch indicates that a record changed after it was read, so the update is
	// based on stale data.
	ErrVersionMismatch = errors.New("modified since it was read")
	// ErrNotOpen indicates that the storage was used before it was opened.
	ErrNotOpen = errors.New("storage is not open")
)

// AlreadyExistsError names the kind of contact that belongs to another user. It wraps
// ErrAlreadyExists.
type AlreadyExistsError struct{ Kind string }

// Error names the kind of contact that is already in use.
func (e *AlreadyExistsError) Error() string { return "the " + e.Kind + " belongs to another user" }

// Unwrap returns ErrAlreadyExists.
func (*AlreadyExistsError) Unwrap() error { return ErrAlreadyExists }
