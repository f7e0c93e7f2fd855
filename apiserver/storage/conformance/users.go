// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// testTime is the time used by all tests, with the microsecond precision of the stores.
var testTime = time.Date(2026, time.November, 21, 9, 30, 0, 123456000, time.UTC)

// transact runs a transaction that must succeed.
func transact(t testing.TB, store storage.Store, work func(storage.Tx) error) {
	t.Helper()
	if err := store.Transact(t.Context(), work); err != nil {
		t.Fatal(err)
	}
}

// newUser returns a user with a new id, encrypted with the keys of a version.
func newUser(generation string) record.EncryptedUser {
	return record.EncryptedUser{ID: uuid.NewString(), EncryptedContact: []byte{0, 1, 255}, KeyVersion: generation, CreatedAt: testTime}
}

func emailHash(sum string) record.ContactHash {
	return record.ContactHash{Kind: "email", KeyID: 4294967295, Sum: []byte(sum)}
}

func phoneHash(sum string) record.ContactHash {
	return record.ContactHash{Kind: "phone", KeyID: 7, Sum: []byte(sum)}
}

func insertUser(t testing.TB, store storage.Store, user record.EncryptedUser, hashes ...record.ContactHash) {
	t.Helper()
	transact(t, store, func(tx storage.Tx) error { return tx.InsertUser(t.Context(), user, hashes) })
}

func testUsers(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	store := openStore(t, url)
	ada, eve, bare := newUser("g1"), newUser("g1"), newUser("g1")
	insertUser(t, store, ada, emailHash("ada"), phoneHash("ada"))
	insertUser(t, store, eve, emailHash("eve"))
	insertUser(t, store, bare)
	changed := ada
	changed.EncryptedContact, changed.KeyVersion = []byte("other"), "g2"
	transact(t, store, func(tx storage.Tx) error {
		locked, err := tx.LockUser(t.Context(), ada.ID)
		if diff := cmp.Diff(ada, locked); diff != "" || err != nil {
			t.Errorf("LockUser: error %v, (-want +got):\n%s", err, diff)
		}
		return tx.UpdateUser(t.Context(), changed, []record.ContactHash{phoneHash("ada"), emailHash("lovelace")})
	})
	transact(t, openStore(t, url), func(tx storage.Tx) error {
		for name, try := range map[string]struct {
			read func() (record.EncryptedUser, error)
			want record.EncryptedUser
			err  error
		}{
			"by id":                    {func() (record.EncryptedUser, error) { return tx.GetUser(t.Context(), ada.ID) }, changed, nil},
			"unknown id":               {func() (record.EncryptedUser, error) { return tx.GetUser(t.Context(), "x") }, record.EncryptedUser{}, record.ErrNotFound},
			"lock of unknown id":       {func() (record.EncryptedUser, error) { return tx.LockUser(t.Context(), "x") }, record.EncryptedUser{}, record.ErrNotFound},
			"by hash":                  {getUserByHash(t, tx, emailHash("lovelace")), changed, nil},
			"by the second hash":       {getUserByHash(t, tx, emailHash("none"), phoneHash("ada")), changed, nil},
			"by the former hash":       {getUserByHash(t, tx, emailHash("ada")), record.EncryptedUser{}, record.ErrNotFound},
			"by hash of another user":  {getUserByHash(t, tx, emailHash("eve")), eve, nil},
			"by hash of another kind":  {getUserByHash(t, tx, phoneHash("lovelace")), record.EncryptedUser{}, record.ErrNotFound},
			"by hash with another key": {getUserByHash(t, tx, record.ContactHash{Kind: "email", KeyID: 1, Sum: []byte("eve")}), record.EncryptedUser{}, record.ErrNotFound},
			"without hashes":           {getUserByHash(t, tx), record.EncryptedUser{}, record.ErrNotFound},
		} {
			got, err := try.read()
			if diff := cmp.Diff(try.want, got); diff != "" || !errors.Is(err, try.err) {
				t.Errorf("%s: error %v, (-want +got):\n%s", name, err, diff)
			}
		}
		for _, part := range []struct {
			offset, limit int64
			want          []record.EncryptedUser
		}{{0, 10, []record.EncryptedUser{changed, eve, bare}}, {1, 1, []record.EncryptedUser{eve}}, {3, 1, []record.EncryptedUser{}}} {
			page, total, err := tx.ListUsers(t.Context(), part.offset, part.limit)
			if diff := cmp.Diff(part.want, page); diff != "" || total != 3 || err != nil {
				t.Errorf("got total %d, error %v, (-want +got):\n%s", total, err, diff)
			}
		}
		return nil
	})
}

func getUserByHash(t *testing.T, tx storage.Tx, hashes ...record.ContactHash) func() (record.EncryptedUser, error) {
	return func() (record.EncryptedUser, error) { return tx.GetUserByHash(t.Context(), hashes) }
}

func testUsersToReencrypt(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	var old []string
	for i := range 6 {
		user := newUser([]string{"g1", "g2"}[i%2])
		insertUser(t, store, user)
		if user.KeyVersion == "g1" {
			old = append(old, user.ID)
		}
	}
	transact(t, store, func(tx storage.Tx) error {
		var found []string
		for after := ""; ; after = found[len(found)-1] {
			ids, err := tx.ListUserIDsToReencrypt(t.Context(), "g2", after, 2)
			if err != nil || len(ids) > 2 {
				t.Fatalf("got %v, %v", ids, err)
			}
			if len(ids) == 0 {
				break
			}
			found = append(found, ids...)
		}
		if diff := cmp.Diff(sorted(old), found); diff != "" {
			t.Errorf("users of the first generation (-want +got):\n%s", diff)
		}
		return nil
	})
}

// testUserAlreadyExists checks that a contact in use by another user is rejected with
// its kind.
func testUserAlreadyExists(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	ada, eve := newUser("g1"), newUser("g1")
	insertUser(t, store, ada, emailHash("ada"), phoneHash("ada"))
	insertUser(t, store, eve, emailHash("eve"))
	for name, test := range map[string]struct {
		work func(storage.Tx) error
		kind string
	}{
		"email": {func(tx storage.Tx) error {
			return tx.InsertUser(t.Context(), newUser("g1"), []record.ContactHash{emailHash("ada")})
		}, "email"},
		"phone": {func(tx storage.Tx) error {
			return tx.InsertUser(t.Context(), newUser("g1"), []record.ContactHash{emailHash("x"), phoneHash("ada")})
		}, "phone"},
		"change": {func(tx storage.Tx) error {
			return tx.UpdateUser(t.Context(), eve, []record.ContactHash{emailHash("ada")})
		}, "email"},
	} {
		err := store.Transact(t.Context(), test.work)
		var exists *record.AlreadyExistsError
		if !errors.As(err, &exists) || exists.Kind != test.kind || !errors.Is(err, record.ErrAlreadyExists) {
			t.Errorf("%s: got %v, want an AlreadyExistsError for the %s", name, err, test.kind)
		}
	}
	err := store.Transact(t.Context(), func(tx storage.Tx) error { return tx.InsertUser(t.Context(), ada, nil) })
	if !errors.Is(err, record.ErrAlreadyExists) {
		t.Errorf("inserting the same id: got %v, want ErrAlreadyExists", err)
	}
	transact(t, store, func(tx storage.Tx) error {
		if found, err := tx.GetUserByHash(t.Context(), []record.ContactHash{emailHash("eve")}); err != nil || found.ID != eve.ID {
			t.Errorf("after a rejected update: got %v, error %v, want %s", found, err, eve.ID)
		}
		if _, err := tx.GetUserByHash(t.Context(), []record.ContactHash{emailHash("x")}); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("after a rejected insert: got %v, want ErrNotFound", err)
		}
		return nil
	})
}

// testConcurrentUserInserts checks that exactly one of many concurrent inserts of the
// same address succeeds.
func testConcurrentUserInserts(t *testing.T, fresh NewDatabase) {
	const replicas, writers = 2, 5
	url := fresh(t)
	var group sync.WaitGroup
	var inserted atomic.Int64
	for range replicas {
		store := openStore(t, url)
		for range writers {
			group.Go(func() {
				err := store.Transact(t.Context(), func(tx storage.Tx) error {
					return tx.InsertUser(t.Context(), newUser("g1"), []record.ContactHash{emailHash("ada"), phoneHash("ada")})
				})
				switch {
				case err == nil:
					inserted.Add(1)
				case !errors.Is(err, record.ErrAlreadyExists):
					t.Errorf("got %v", err)
				}
			})
		}
	}
	group.Wait()
	if inserted.Load() != 1 {
		t.Errorf("%d users were inserted with the same address, want 1", inserted.Load())
	}
}

// testUserDeletion checks that deleting a user leaves only other users' data and the
// audit log.
func testUserDeletion(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	ada, eve := newUser("g1"), newUser("g1")
	insertUser(t, store, ada, emailHash("ada"))
	insertUser(t, store, eve, emailHash("eve"))
	adas, eves := newPatient(ada.ID), newPatient(eve.ID)
	transact(t, store, func(tx storage.Tx) error {
		return errors.Join(tx.InsertPatient(t.Context(), adas), tx.InsertPatient(t.Context(), eves))
	})
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteUser(t.Context(), ada.ID) })
	transact(t, store, func(tx storage.Tx) error {
		_, byID := tx.GetUser(t.Context(), ada.ID)
		_, byHash := tx.GetUserByHash(t.Context(), []record.ContactHash{emailHash("ada")})
		_, patient := tx.GetPatient(t.Context(), adas.ID)
		for what, err := range map[string]error{
			"user": byID, "hash": byHash, "patient": patient, "deletion again": tx.DeleteUser(t.Context(), ada.ID),
		} {
			if !errors.Is(err, record.ErrNotFound) {
				t.Errorf("%s: got %v, want ErrNotFound", what, err)
			}
		}
		page, total, err := tx.ListPatients(t.Context(), "", 0, 10)
		if total != 1 || err != nil || page[0].ID != eves.ID {
			t.Errorf("patients that are left: %v, %v", page, err)
		}
		return nil
	})
	insertUser(t, store, newUser("g1"), emailHash("ada")) // available again
}

// testTransactionRollback checks that a failed transaction leaves no changes.
func testTransactionRollback(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	ada, changedMind := newUser("g1"), errors.New("changed my mind")
	err := store.Transact(t.Context(), func(tx storage.Tx) error {
		if err := tx.InsertUser(t.Context(), ada, nil); err != nil {
			return err
		}
		return changedMind
	})
	if !errors.Is(err, changedMind) {
		t.Errorf("got %v", err)
	}
	transact(t, store, func(tx storage.Tx) error {
		if _, err := tx.GetUser(t.Context(), ada.ID); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("a user was kept: %v", err)
		}
		return nil
	})
}

// testTransactionCanceled checks that a canceled transaction stores nothing and the
// store stays usable.
func testTransactionCanceled(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	ctx, cancel := context.WithCancel(t.Context())
	ada := newUser("g1")
	err := store.Transact(ctx, func(tx storage.Tx) error {
		err := tx.InsertUser(ctx, ada, nil)
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	insertUser(t, store, ada)
}
