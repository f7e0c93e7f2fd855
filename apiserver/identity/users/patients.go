// SPDX-License-Identifier: Apache-2.0

package users

import (
	"context"

	"github.com/google/uuid"

	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/access"
	"github.com/anamnesis-dev/anamnesis/apiserver/platform/audit"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/identifier"
)

// CreatePatient creates a patient with a new id. It returns record.ErrReferenceNotFound
// if the user does not exist.
func (s *Service) CreatePatient(ctx context.Context, principal identity.Principal, patient record.Patient) (record.Patient, error) {
	if !identifier.IsUUID(patient.UserID) {
		return record.Patient{}, record.ErrReferenceNotFound
	}
	patient.ID, patient.CreatedAt = uuid.NewString(), s.Now()
	err := s.Storage.Transact(ctx, func(tx Tx) error {
		if err := tx.InsertPatient(ctx, patient); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Create, audit.Patient, patient.ID))
	})
	return patient, err
}

// GetPatient returns a patient.
func (s *Service) GetPatient(ctx context.Context, principal identity.Principal, id string) (record.Patient, error) {
	if !identifier.IsUUID(id) {
		return record.Patient{}, record.ErrNotFound
	}
	var patient record.Patient
	err := s.Storage.Transact(ctx, func(tx Tx) (err error) {
		if patient, err = visibleTo(principal)(tx.GetPatient(ctx, id)); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Read, audit.Patient, id))
	})
	return patient, err
}

// visibleTo returns a function that hides patients that the principal may not see.
func visibleTo(principal identity.Principal) func(record.Patient, error) (record.Patient, error) {
	return func(patient record.Patient, err error) (record.Patient, error) {
		if err == nil && !access.CanSeePatient(principal, patient.UserID) {
			return record.Patient{}, record.ErrNotFound
		}
		return patient, err
	}
}

// ListPatients returns a page of the patients and their total number, for all users or
// for one. End users see only their own.
func (s *Service) ListPatients(ctx context.Context, principal identity.Principal, userID string, page record.Page) (patients []record.Patient, total int64, err error) {
	userID, ok := access.ListOwner(principal, userID)
	if !ok {
		return nil, 0, record.ErrNotFound
	}
	err = s.Storage.Transact(ctx, func(tx Tx) (err error) {
		if userID == "" || identifier.IsUUID(userID) {
			patients, total, err = tx.ListPatients(ctx, userID, page.Offset, page.Limit)
		}
		if err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.List, audit.Patient, ""))
	})
	return patients, total, err
}

// UpdatePatient applies change to a patient. An error from change rejects the update.
func (s *Service) UpdatePatient(ctx context.Context, principal identity.Principal, id string, change func(*record.Patient) error) (record.Patient, error) {
	if !identifier.IsUUID(id) {
		return record.Patient{}, record.ErrNotFound
	}
	var patient record.Patient
	err := s.Storage.Transact(ctx, func(tx Tx) (err error) {
		if patient, err = visibleTo(principal)(tx.LockPatient(ctx, id)); err != nil {
			return err
		}
		if err := change(&patient); err != nil {
			return err
		}
		if err := tx.UpdatePatient(ctx, patient); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Change, audit.Patient, id))
	})
	return patient, err
}

// DeletePatient deletes a patient and all their data.
func (s *Service) DeletePatient(ctx context.Context, principal identity.Principal, id string) error {
	if !identifier.IsUUID(id) {
		return record.ErrNotFound
	}
	return s.Storage.Transact(ctx, func(tx Tx) error {
		if err := tx.DeletePatient(ctx, id); err != nil {
			return err
		}
		return tx.InsertAuditRecord(ctx, audit.NewRecord(s.Now(), principal.Actor, audit.Delete, audit.Patient, id))
	})
}
