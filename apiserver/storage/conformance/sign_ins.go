// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// expectState checks a named state and replaces it.
func expectState(t *testing.T, store storage.Store, name, userID, want, next string) {
	t.Helper()
	transact(t, store, func(tx storage.Tx) error {
		state, err := tx.LockState(t.Context(), name, userID)
		if state != want {
			t.Errorf("state %q is %q, want %q", name, state, want)
		}
		return errors.Join(err, tx.PutState(t.Context(), name, next))
	})
}

func testSignInStates(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	store := openStore(t, url)
	user := newUser("g1")
	insertUser(t, store, user)
	expectState(t, store, "of a user", user.ID, "", "first")
	expectState(t, store, "of no user", "", "", `{"a": "ä"}`)
	expectState(t, openStore(t, url), "of a user", user.ID, "first", "second")
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteUser(t.Context(), user.ID) })
	expectState(t, store, "of no user", "", `{"a": "ä"}`, "")
	expectState(t, store, "of a user", "", "", "")
	err := store.Transact(t.Context(), func(tx storage.Tx) error {
		_, err := tx.LockState(t.Context(), "of a missing user", uuid.NewString())
		return err
	})
	if !errors.Is(err, record.ErrReferenceNotFound) {
		t.Errorf("state of an unknown user: got %v, want ErrReferenceNotFound", err)
	}
}

// testConcurrentStateUpdates checks that no concurrent state update is lost, across
// replicas.
func testConcurrentStateUpdates(t *testing.T, fresh NewDatabase) {
	const replicas, writers, rounds = 2, 4, 5
	url := fresh(t)
	var group sync.WaitGroup
	for range replicas {
		store := openStore(t, url)
		for range writers {
			group.Go(func() {
				for range rounds {
					err := store.Transact(t.Context(), func(tx storage.Tx) error {
						state, err := tx.LockState(t.Context(), "count", "")
						if err != nil {
							return err
						}
						count, _ := strconv.Atoi(state) // initially empty
						return tx.PutState(t.Context(), "count", strconv.Itoa(count+1))
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	group.Wait()
	expectState(t, openStore(t, url), "count", "", strconv.Itoa(replicas*writers*rounds), "")
}

func testMagicCodes(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	user := newUser("g1")
	insertUser(t, store, user)
	code := func(hash string, expires time.Time) record.MagicCode {
		return record.MagicCode{Hash: []byte(hash), UserID: user.ID, SurveyID: "survey", ExpiresAt: expires}
	}
	early, late := code("early", testTime), code("late", testTime.Add(time.Hour))
	for _, code := range []record.MagicCode{early, late} {
		transact(t, store, func(tx storage.Tx) error { return tx.InsertMagicCode(t.Context(), code, testTime) })
	}
	read := func(hash string, want record.MagicCode, wantErr error) {
		t.Helper()
		transact(t, store, func(tx storage.Tx) error {
			got, err := tx.GetMagicCode(t.Context(), []byte(hash))
			if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, wantErr) {
				t.Errorf("%s: %v (-want +got):\n%s", hash, err, diff)
			}
			return nil
		})
	}
	read("early", early, nil)
	read("late", late, nil)
	read("none", record.MagicCode{}, record.ErrNotFound)
	another := code("another", testTime.Add(time.Hour))
	transact(t, store, func(tx storage.Tx) error { return tx.InsertMagicCode(t.Context(), another, testTime.Add(time.Second)) })
	read("early", record.MagicCode{}, record.ErrNotFound)
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteUser(t.Context(), user.ID) })
	read("late", record.MagicCode{}, record.ErrNotFound)
}
