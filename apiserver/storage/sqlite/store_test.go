// SPDX-License-Identifier: Apache-2.0

package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/platform/usage"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/conformance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite"
)

func TestMain(m *testing.M) {
	conformance.RunChild()
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	conformance.Run(t, func(t testing.TB) string {
		return "sqlite:" + filepath.Join(t.TempDir(), "anamnesis.db")
	})
}

var oneCount = []usage.Count{{
	Date:        civil.Date{Year: 2026, Month: time.November, Day: 21},
	Application: "portal", Endpoint: "GET /v3/info", Calls: 1,
}}

// newUsageBatch returns a batch with one count and a new recorder.
func newUsageBatch() usage.Batch {
	return usage.Batch{Recorder: uuid.NewString(), Sequence: 1, Counts: oneCount}
}

func openStore(t *testing.T, path string) *sqlite.Store {
	t.Helper()
	store := sqlite.New(path)
	err := store.Open(t.Context(), storage.Owner{})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

// TestPathsWithSpecialCharacters checks that characters with a meaning in URLs or SQLite
// are treated as part of the file name.
func TestPathsWithSpecialCharacters(t *testing.T) {
	for _, name := range []string{"plain.db", "a b.db", "per%20cent.db", "what?mode=memory", "hash#tag", ":memory:", "é&_txlock=no;x=y", "file:x"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name)
			store := openStore(t, path)
			if err := store.AddUsage(t.Context(), newUsageBatch()); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("database file has mode %v, want access for the owner only", info.Mode())
			}
		})
	}
}

// TestConnectionPragmas checks the pragmas that durability depends on.
func TestConnectionPragmas(t *testing.T) {
	t.Parallel()
	store := openStore(t, filepath.Join(t.TempDir(), "anamnesis.db"))
	for name, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "busy_timeout": "5000", "foreign_keys": "1", "secure_delete": "1"} {
		if got, err := store.Pragma(name); err != nil || got != want {
			t.Errorf("pragma %s is %q, error %v, want %q", name, got, err, want)
		}
	}
}

// TestRelativePathIsResolvedOnOpen checks that a relative path is resolved against the
// working directory at Open.
func TestRelativePathIsResolvedOnOpen(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	openStore(t, "anamnesis.db")
	if _, err := os.Stat(filepath.Join(dir, "anamnesis.db")); err != nil {
		t.Error(err)
	}
}

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	invalid := filepath.Join(dir, "invalid.db")
	if err := os.WriteFile(invalid, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		path string
		want string
	}{
		"missing directory":   {filepath.Join(dir, "missing", "anamnesis.db"), "no such file or directory"},
		"path of a directory": {dir, "is a directory"},
		"invalid file":        {invalid, "file is not a database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := sqlite.New(test.path).Open(t.Context(), storage.Owner{})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.path) {
				t.Errorf("got error %v, want it to contain %q and the path", err, test.want)
			}
		})
	}
	if content, err := os.ReadFile(invalid); err != nil || !strings.HasPrefix(string(content), "no database") {
		t.Errorf("invalid file was changed to %.20q, error %v", content, err)
	}
}

// TestOpenWaitsForLock checks that Open waits for another process that is opening the
// store, until ctx ends.
func TestOpenWaitsForLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "anamnesis.db")
	unlock, err := sqlite.LockForOpen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := sqlite.New(path).Open(ctx, storage.Owner{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v while the lock is held, want context.DeadlineExceeded", err)
	}
	result := make(chan error)
	go func() {
		store := sqlite.New(path)
		err := store.Open(context.WithoutCancel(ctx), storage.Owner{})
		if err == nil {
			err = store.Close()
		}
		result <- err
	}()
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Errorf("Open after the lock was released: %v", err)
	}
}

// TestMissingFileIsDetected checks that a deleted file is detected although its handle
// still works, so that no writes are lost.
func TestMissingFileIsDetected(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "anamnesis.db")
	store := openStore(t, path)
	expectErrors := func(state string, matches func(error) bool) {
		t.Helper()
		for name, err := range map[string]error{"Ping": store.Ping(t.Context()), "AddUsage": store.AddUsage(t.Context(), newUsageBatch())} {
			if !matches(err) {
				t.Errorf("%s: %s: got error %v", state, name, err)
			}
		}
	}
	isNil := func(err error) bool { return err == nil }
	expectErrors("original file", isNil)
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	expectErrors("missing file", func(err error) bool { return errors.Is(err, fs.ErrNotExist) })
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	expectErrors("replaced file", func(err error) bool {
		return err != nil && strings.Contains(err.Error(), path+" was replaced while open")
	})
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	expectErrors("restored file", isNil)
	counts, err := store.ListUsage(t.Context(), oneCount[0].Date, oneCount[0].Date)
	if err != nil || len(counts) != 1 || counts[0].Calls != 2 {
		t.Errorf("got %v, error %v, want the two accepted calls", counts, err)
	}
}

// TestDeletedDataIsOverwritten checks that the file contains no deleted data after it
// is closed.
func TestDeletedDataIsOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "anamnesis.db")
	store := sqlite.New(path)
	if err := store.Open(t.Context(), storage.Owner{}); err != nil {
		t.Fatal(err)
	}
	const id, contact = "7f1fb3b1-8a6e-4c06-9d1c-0f5f7a0c2a11", "sealed contact data"
	for _, work := range []func(storage.Tx) error{
		func(tx storage.Tx) error {
			return tx.InsertUser(t.Context(), record.EncryptedUser{ID: id, EncryptedContact: []byte(contact)}, []record.ContactHash{{Kind: "email", Sum: []byte("hash of it")}})
		},
		func(tx storage.Tx) error { return tx.DeleteUser(t.Context(), id) },
	} {
		if err := store.Transact(t.Context(), work); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range []string{id, contact, "hash of it"} {
		if strings.Contains(string(content), trace) {
			t.Errorf("deleted data %q is still in the file", trace)
		}
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("write-ahead log was not removed: %v", err)
	}
}
