// SPDX-License-Identifier: Apache-2.0

package sqlstore

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/internal/sqlstore/queries"
)

func toPatient(row queries.PatientRow) record.Patient {
	patient := record.Patient{
		ID: row.ID, UserID: row.UserID, Sex: row.Sex, Age: record.Age{Value: int(row.AgeValue), Unit: row.AgeUnit},
		Dependent: row.Dependent, CreatedAt: row.CreatedAt.UTC(),
	}
	if row.BirthDate != nil {
		patient.BirthDate = *row.BirthDate
	}
	return patient
}

// nullableBirthDate returns the birth date, or nil if it is unknown.
func nullableBirthDate(patient record.Patient) *civil.Date {
	if !patient.BirthDate.IsValid() {
		return nil
	}
	return &patient.BirthDate
}

// InsertPatient implements storage.PatientStore.
func (t *Tx) InsertPatient(ctx context.Context, patient record.Patient) error {
	err := t.Queries.InsertPatient(ctx, queries.InsertPatientParams{
		ID: patient.ID, UserID: patient.UserID, Sex: patient.Sex, BirthDate: nullableBirthDate(patient),
		AgeValue: int64(patient.Age.Value), AgeUnit: patient.Age.Unit,
		Dependent: patient.Dependent, CreatedAt: patient.CreatedAt,
	})
	return t.wrap(ctx, "creating patient", err)
}

// GetPatient implements storage.PatientStore.
func (t *Tx) GetPatient(ctx context.Context, id string) (record.Patient, error) {
	row, err := t.Patient(ctx, id)
	return toPatient(row), t.wrapFound(ctx, "reading patient", err)
}

// LockPatient implements storage.PatientStore.
func (t *Tx) LockPatient(ctx context.Context, id string) (record.Patient, error) {
	row, err := t.Queries.LockPatient(ctx, id)
	return toPatient(queries.PatientRow(row)), t.wrapFound(ctx, "reading patient", err)
}

// ListPatients implements storage.PatientStore.
func (t *Tx) ListPatients(ctx context.Context, userID string, offset, limit int64) ([]record.Patient, int64, error) {
	if userID != "" {
		return t.listUserPatients(ctx, userID, offset, limit)
	}
	total, err := t.CountPatients(ctx)
	if err != nil {
		return nil, 0, t.wrap(ctx, "counting patients", err)
	}
	rows, err := t.Patients(ctx, queries.PatientsParams{Offset: offset, Limit: limit})
	page := convert(rows, func(row queries.PatientsRow) record.Patient { return toPatient(queries.PatientRow(row)) })
	return page, total, t.wrap(ctx, "listing patients", err)
}

func (t *Tx) listUserPatients(ctx context.Context, userID string, offset, limit int64) ([]record.Patient, int64, error) {
	total, err := t.CountUserPatients(ctx, userID)
	if err != nil {
		return nil, 0, t.wrap(ctx, "counting patients of user", err)
	}
	rows, err := t.UserPatients(ctx, queries.UserPatientsParams{UserID: userID, Offset: offset, Limit: limit})
	page := convert(rows, func(row queries.UserPatientsRow) record.Patient { return toPatient(queries.PatientRow(row)) })
	return page, total, t.wrap(ctx, "listing patients of user", err)
}

// UpdatePatient implements storage.PatientStore.
func (t *Tx) UpdatePatient(ctx context.Context, patient record.Patient) error {
	err := t.Queries.UpdatePatient(ctx, queries.UpdatePatientParams{
		ID: patient.ID, Sex: patient.Sex, BirthDate: nullableBirthDate(patient),
		AgeValue: int64(patient.Age.Value), AgeUnit: patient.Age.Unit, Dependent: patient.Dependent,
	})
	return t.wrap(ctx, "updating patient", err)
}

// DeletePatient implements storage.PatientStore.
func (t *Tx) DeletePatient(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeletePatient(ctx, id)
	return t.wrapChanged(ctx, "deleting patient", deleted, err, record.ErrNotFound)
}
