// SPDX-License-Identifier: Apache-2.0

package people

import (
	"context"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// CreatePatient makes a patient, who gets an id. It is storage.ErrDangling where
// there is no such user.
func (r *Register) CreatePatient(ctx context.Context, by audit.Actor, patient guidance.Patient) (guidance.Patient, error) {
	if !isID(patient.UserID) {
		return guidance.Patient{}, storage.ErrDangling
	}
	patient.ID, patient.CreatedAt = uuid.NewString(), r.Now()
	err := r.Storage.Transact(ctx, func(tx storage.Tx) error {
		if err := tx.InsertPatient(ctx, patient); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Create, audit.Patient, patient.ID))
	})
	return patient, err
}

// Patient is the patient with an id.
func (r *Register) Patient(ctx context.Context, by audit.Actor, id string) (guidance.Patient, error) {
	if !isID(id) {
		return guidance.Patient{}, storage.ErrNotFound
	}
	var patient guidance.Patient
	err := r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if patient, err = visible(by)(tx.Patient(ctx, id)); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Read, audit.Patient, id))
	})
	return patient, err
}

// visible hides from an end user what is another's.
func visible(by audit.Actor) func(guidance.Patient, error) (guidance.Patient, error) {
	return func(patient guidance.Patient, err error) (guidance.Patient, error) {
		if err == nil && by.UserID != "" && by.UserID != patient.UserID {
			return guidance.Patient{}, storage.ErrNotFound
		}
		return patient, err
	}
}

// Patients is a part of the patients, and how many there are: of all, or of those
// of a user. An end user has no others.
func (r *Register) Patients(ctx context.Context, by audit.Actor, userID string, page Page) (patients []guidance.Patient, total int64, err error) {
	if by.UserID != "" && userID != "" && userID != by.UserID {
		return nil, 0, storage.ErrNotFound
	}
	if by.UserID != "" {
		userID = by.UserID
	}
	err = r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if userID == "" || isID(userID) {
			patients, total, err = tx.Patients(ctx, userID, page.Skipped, page.AtMost)
		}
		if err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.List, audit.Patient, ""))
	})
	return patients, total, err
}

// ChangePatient changes a patient as change does, which may refuse to.
func (r *Register) ChangePatient(ctx context.Context, by audit.Actor, id string, change func(*guidance.Patient) error) (guidance.Patient, error) {
	if !isID(id) {
		return guidance.Patient{}, storage.ErrNotFound
	}
	var patient guidance.Patient
	err := r.Storage.Transact(ctx, func(tx storage.Tx) (err error) {
		if patient, err = visible(by)(tx.LockPatient(ctx, id)); err != nil {
			return err
		}
		if err := change(&patient); err != nil {
			return err
		}
		if err := tx.UpdatePatient(ctx, patient); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Change, audit.Patient, id))
	})
	return patient, err
}

// DeletePatient erases a patient with all that is kept of it.
func (r *Register) DeletePatient(ctx context.Context, by audit.Actor, id string) error {
	if !isID(id) {
		return storage.ErrNotFound
	}
	return r.Storage.Transact(ctx, func(tx storage.Tx) error {
		if err := tx.DeletePatient(ctx, id); err != nil {
			return err
		}
		return tx.InsertAudit(ctx, r.record(by, audit.Delete, audit.Patient, id))
	})
}
