// SPDX-License-Identifier: Apache-2.0

// Package open selects the storage implementation for a database URL. It is separate from
// package storage because it depends on every implementation.
package open

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite"
)

// errInvalidURL does not contain the URL, which may hold a password.
var errInvalidURL = fmt.Errorf("%w: use sqlite:<file path> or postgres://user:password@host:port/database", storage.ErrInvalidURL)

// New returns the store for a URL without opening it: sqlite:<path> for a file,
// postgres://… or postgresql://… for a server. Its errors wrap storage.ErrInvalidURL.
func New(url string) (storage.Store, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch {
	case scheme == "sqlite" && rest != "":
		return sqlite.New(rest), nil
	case scheme == "postgres", scheme == "postgresql":
		store, err := postgres.New(url)
		if err != nil {
			return nil, err // avoid a non-nil interface that holds a nil pointer
		}
		return store, nil
	}
	return nil, errInvalidURL
}

// Open opens the store at url and migrates it, without marking it with an owner. Errors
// that wrap storage.ErrInvalidURL are permanent; others may be transient, for example
// while a database server is starting.
func Open(ctx context.Context, url string) (storage.Store, error) {
	store, err := New(url)
	if err != nil {
		return nil, err
	}
	if err := store.Open(ctx, storage.Owner{}); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// Migrate migrates the store at url, like Open, and closes it.
func Migrate(ctx context.Context, url string) error {
	store, err := Open(ctx, url)
	if err != nil {
		return err
	}
	return store.Close()
}
