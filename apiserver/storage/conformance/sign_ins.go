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

	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// wantState wants the state of a name, and leaves another.
func wantState(t *testing.T, store storage.Store, name, userID, want, next string) {
	t.Helper()
	transact(t, store, func(tx storage.Tx) error {
		state, err := tx.LockState(t.Context(), name, userID)
		if state != want {
			t.Errorf("the state of %s is %q, want %q", name, state, want)
		}
		return errors.Join(err, tx.PutState(t.Context(), name, next))
	})
}

func testStates(t *testing.T, fresh Fresh) {
	url := fresh(t)
	store := opened(t, url)
	user := aUser("g1")
	insertUser(t, store, user)
	wantState(t, store, "of a user", user.ID, "", "first")
	wantState(t, store, "of nobody", "", "", `{"a": "ä"}`)
	wantState(t, opened(t, url), "of a user", user.ID, "first", "second")
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteUser(t.Context(), user.ID) })
	wantState(t, store, "of nobody", "", `{"a": "ä"}`, "")
	wantState(t, store, "of a user", "", "", "")
	err := store.Transact(t.Context(), func(tx storage.Tx) error {
		_, err := tx.LockState(t.Context(), "of somebody", uuid.NewString())
		return err
	})
	if !errors.Is(err, storage.ErrDangling) {
		t.Errorf("the state of a user that does not exist: got %v", err)
	}
}

// Who counts in a state counts each time, on however many replicas.
func testStatesAtOnce(t *testing.T, fresh Fresh) {
	const replicas, writers, rounds = 2, 4, 5
	url := fresh(t)
	var group sync.WaitGroup
	for range replicas {
		store := opened(t, url)
		for range writers {
			group.Go(func() {
				for range rounds {
					err := store.Transact(t.Context(), func(tx storage.Tx) error {
						state, err := tx.LockState(t.Context(), "count", "")
						if err != nil {
							return err
						}
						count, _ := strconv.Atoi(state) // none at first
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
	wantState(t, opened(t, url), "count", "", strconv.Itoa(replicas*writers*rounds), "")
}

func testMagicCodes(t *testing.T, fresh Fresh) {
	store := opened(t, fresh(t))
	user := aUser("g1")
	insertUser(t, store, user)
	code := func(hash string, expires time.Time) storage.MagicCode {
		return storage.MagicCode{Hash: []byte(hash), UserID: user.ID, SurveyID: "survey", ExpiresAt: expires}
	}
	early, late := code("early", moment), code("late", moment.Add(time.Hour))
	for _, code := range []storage.MagicCode{early, late} {
		transact(t, store, func(tx storage.Tx) error { return tx.InsertMagicCode(t.Context(), code, moment) })
	}
	read := func(hash string, want storage.MagicCode, wantErr error) {
		t.Helper()
		transact(t, store, func(tx storage.Tx) error {
			got, err := tx.MagicCode(t.Context(), []byte(hash))
			if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, wantErr) {
				t.Errorf("%s: %v (-want +got):\n%s", hash, err, diff)
			}
			return nil
		})
	}
	read("early", early, nil)
	read("late", late, nil)
	read("none", storage.MagicCode{}, storage.ErrNotFound)
	another := code("another", moment.Add(time.Hour))
	transact(t, store, func(tx storage.Tx) error { return tx.InsertMagicCode(t.Context(), another, moment.Add(time.Second)) })
	read("early", storage.MagicCode{}, storage.ErrNotFound)
	transact(t, store, func(tx storage.Tx) error { return tx.DeleteUser(t.Context(), user.ID) })
	read("late", storage.MagicCode{}, storage.ErrNotFound)
}
