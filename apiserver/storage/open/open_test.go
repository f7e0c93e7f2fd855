// SPDX-License-Identifier: Apache-2.0

package open_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/open"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/postgrestest"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Run(m)) }

func TestOpenSelectsStoreByScheme(t *testing.T) {
	t.Parallel()
	server := postgrestest.NewDatabase(t)
	for url, hasType := range map[string]func(storage.Store) bool{
		"sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db"): isType[*sqlite.Store],
		server: isType[*postgres.Store],
		strings.Replace(server, "postgres:", "postgresql:", 1): isType[*postgres.Store],
	} {
		store, err := open.Open(t.Context(), url)
		if err != nil {
			t.Errorf("Open: %v", err)
			continue
		}
		if !hasType(store) {
			t.Errorf("URL %.8s… selected a %T", url, store)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
}

func isType[S storage.Store](store storage.Store) bool {
	_, is := store.(S)
	return is
}

func TestNewRejectsInvalidURLs(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "sqlite", "sqlite:", "anamnesis.db", "mysql://hunter2@localhost/x", "SQLITE:x", "hunter2", "postgres:hunter2"} {
		store, err := open.Open(t.Context(), url)
		if !errors.Is(err, storage.ErrInvalidURL) || store != nil {
			t.Errorf("%q: got store %v and error %v, want ErrInvalidURL", url, store, err)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error %q contains the URL, which may be secret", err)
		}
	}
}

// TestOpenErrors checks that transient errors are distinguishable from permanent ones.
func TestOpenErrors(t *testing.T) {
	t.Parallel()
	store, err := open.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "missing", "anamnesis.db"))
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, storage.ErrInvalidURL) || store != nil {
		t.Errorf("got store %v and error %v, want fs.ErrNotExist", store, err)
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "anamnesis.db")
	for range 2 {
		if err := open.Migrate(t.Context(), "sqlite:"+path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Migrate did not close the store: %v", err)
	}
	if err := open.Migrate(t.Context(), "nothing"); !errors.Is(err, storage.ErrInvalidURL) {
		t.Errorf("got error %v, want ErrInvalidURL", err)
	}
}
