// SPDX-License-Identifier: Apache-2.0

// Package open picks the storage that a database URL names. It knows every
// implementation of storage and nothing else, so that the implementations
// need not know each other.
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

// errURL does not repeat the URL, which may hold a password.
var errURL = fmt.Errorf("%w: it has to be sqlite:<path of a file> or postgres://user:password@host:port/database", storage.ErrInvalidURL)

// New returns the store that url names, which is not open yet: sqlite:<path> for
// a file, postgres://… or postgresql://… for a server. Its errors wrap
// storage.ErrInvalidURL.
func New(url string) (storage.Store, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch {
	case scheme == "sqlite" && rest != "":
		return sqlite.New(rest), nil
	case scheme == "postgres", scheme == "postgresql":
		store, err := postgres.New(url)
		if err != nil {
			return nil, err // and no nil pointer in an interface that is not nil
		}
		return store, nil
	}
	return nil, errURL
}

// Open returns the store that url names, open and with its tables up to date, for
// somebody who does not own it.
// Errors that wrap storage.ErrInvalidURL stay; others may pass, as those of a
// server that is still starting.
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

// Migrate brings the tables of the store that url names up to date, as Open
// does, and closes it again.
func Migrate(ctx context.Context, url string) error {
	store, err := Open(ctx, url)
	if err != nil {
		return err
	}
	return store.Close()
}
