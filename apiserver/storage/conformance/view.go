// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// testView checks that a read-only transaction cannot write, reads what is committed, and
// sees the data as of one moment.
func testView(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	first, second := newUser("g1"), newUser("g1")
	insertUser(t, store, first)
	err := store.View(t.Context(), func(tx storage.Reader) error {
		before, total, err := tx.ListUsers(t.Context(), 0, 10)
		if err != nil || total != 1 || cmp.Diff([]record.EncryptedUser{first}, before) != "" {
			t.Errorf("before the insert: got %v, total %d, error %v", before, total, err)
		}
		insertUser(t, store, second)
		if during, total, err := tx.ListUsers(t.Context(), 0, 10); err != nil || total != 1 || cmp.Diff(before, during) != "" {
			t.Errorf("after the insert: got %v, total %d, error %v", during, total, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = store.View(t.Context(), func(tx storage.Reader) error { return tx.(storage.Tx).DeleteUser(t.Context(), first.ID) })
	if err == nil {
		t.Error("a read-only transaction deleted a user")
	}
	err = store.View(t.Context(), func(tx storage.Reader) error {
		_, err := tx.GetUser(t.Context(), second.ID)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
