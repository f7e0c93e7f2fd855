// SPDX-License-Identifier: Apache-2.0

// Package open picks the storage that a database URL names. It knows every
// implementation of storage and nothing else, so that the implementations
// need not know each other.
package open

import (
	"context"
	"fmt"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite"
)

// errURL does not repeat the URL, which may hold a password.
var errURL = fmt.Errorf("%w: it has to be sqlite:<path of a file> or postgres://user:password@host:port/database", storage.ErrInvalidURL)

// Open opens the store that url names and brings its tables up to date:
// sqlite:<path> for a file, postgres://… or postgresql://… for a server.
// Errors that wrap storage.ErrInvalidURL stay; others may pass, as those of a
// server that is still starting.
func Open(ctx context.Context, url string) (storage.Store, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	switch {
	case scheme == "sqlite" && rest != "":
		return opened(sqlite.Open(ctx, rest))
	case scheme == "postgres", scheme == "postgresql":
		return opened(postgres.Open(ctx, url))
	}
	return nil, errURL
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

// opened keeps a nil pointer from becoming a Store that is not nil.
func opened[S storage.Store](store S, err error) (storage.Store, error) {
	if err != nil {
		return nil, err
	}
	return store, nil
}
