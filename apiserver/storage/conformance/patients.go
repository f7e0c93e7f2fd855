// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// newPatient returns a patient of a user, with a new id and no data.
func newPatient(userID string) record.Patient {
	return record.Patient{ID: uuid.NewString(), UserID: userID, CreatedAt: testTime}
}

func sorted(ids []string) []string { return slices.Sorted(slices.Values(ids)) }

func testPatients(t *testing.T, fresh NewDatabase) {
	url := fresh(t)
	store := openStore(t, url)
	ada, eve := newUser("g1"), newUser("g1")
	insertUser(t, store, ada)
	insertUser(t, store, eve)
	unknown, child, other := newPatient(ada.ID), newPatient(ada.ID), newPatient(eve.ID)
	child.Sex, child.BirthDate, child.Dependent = "female", civil.Date{Year: 2020, Month: 2, Day: 29}, true
	other.Age = record.Age{Value: 8, Unit: assessment.Month}
	for _, patient := range []record.Patient{unknown, other, child} {
		transact(t, store, func(tx storage.Tx) error { return tx.InsertPatient(t.Context(), patient) })
	}
	transact(t, store, func(tx storage.Tx) error {
		locked, err := tx.LockPatient(t.Context(), other.ID)
		if diff := cmp.Diff(other, locked); diff != "" || err != nil {
			t.Errorf("LockPatient: error %v, (-want +got):\n%s", err, diff)
		}
		other.Sex, other.Age, other.BirthDate = "male", record.Age{}, civil.Date{Year: 1992, Month: 12, Day: 31}
		moved := other
		moved.UserID = ada.ID // the user cannot be changed
		return tx.UpdatePatient(t.Context(), moved)
	})
	transact(t, openStore(t, url), func(tx storage.Tx) error {
		for name, part := range map[string]struct {
			user          string
			offset, limit int64
			want          []record.Patient
			total         int64
		}{
			"all":                {"", 0, 10, []record.Patient{unknown, other, child}, 3},
			"page of all":        {"", 1, 1, []record.Patient{other}, 3},
			"of a user":          {ada.ID, 0, 10, []record.Patient{unknown, child}, 2},
			"page of a user":     {ada.ID, 1, 1, []record.Patient{child}, 2},
			"of an unknown user": {"x", 0, 10, []record.Patient{}, 0},
			"beyond the last":    {"", 3, 10, []record.Patient{}, 3},
		} {
			page, total, err := tx.ListPatients(t.Context(), part.user, part.offset, part.limit)
			if diff := cmp.Diff(part.want, page); diff != "" || total != part.total || err != nil {
				t.Errorf("%s: total %d, error %v, (-want +got):\n%s", name, total, err, diff)
			}
		}
		return tx.DeletePatient(t.Context(), child.ID)
	})
	transact(t, store, func(tx storage.Tx) error {
		_, read := tx.GetPatient(t.Context(), child.ID)
		_, locked := tx.LockPatient(t.Context(), child.ID)
		for what, err := range map[string]error{"read": read, "lock": locked, "deletion": tx.DeletePatient(t.Context(), child.ID)} {
			if !errors.Is(err, record.ErrNotFound) {
				t.Errorf("%s: got %v, want ErrNotFound", what, err)
			}
		}
		return nil
	})
}

func testPatientOfUnknownUser(t *testing.T, fresh NewDatabase) {
	store := openStore(t, fresh(t))
	err := store.Transact(t.Context(), func(tx storage.Tx) error { return tx.InsertPatient(t.Context(), newPatient(uuid.NewString())) })
	if !errors.Is(err, record.ErrReferenceNotFound) {
		t.Errorf("got %v, want ErrReferenceNotFound", err)
	}
}

// testConcurrentPatientUpdates checks that concurrent updates are serialized and none is
// lost.
func testConcurrentPatientUpdates(t *testing.T, fresh NewDatabase) {
	const replicas, writers, rounds = 2, 3, 5
	url := fresh(t)
	store := openStore(t, url)
	user := newUser("g1")
	insertUser(t, store, user)
	patient := newPatient(user.ID)
	patient.Age.Unit = assessment.Year
	transact(t, store, func(tx storage.Tx) error { return tx.InsertPatient(t.Context(), patient) })
	var group sync.WaitGroup
	for range replicas {
		store := openStore(t, url)
		for range writers {
			group.Go(func() {
				for range rounds {
					err := store.Transact(t.Context(), func(tx storage.Tx) error {
						locked, err := tx.LockPatient(t.Context(), patient.ID)
						if err != nil {
							return err
						}
						locked.Age.Value++
						return tx.UpdatePatient(t.Context(), locked)
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	group.Wait()
	transact(t, store, func(tx storage.Tx) error {
		got, err := tx.GetPatient(t.Context(), patient.ID)
		if got.Age.Value != replicas*writers*rounds {
			t.Errorf("%d updates are stored, want %d", got.Age.Value, replicas*writers*rounds)
		}
		return err
	})
}
