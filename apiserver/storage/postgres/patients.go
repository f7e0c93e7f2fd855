// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
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
func (t tx) InsertPatient(ctx context.Context, patient record.Patient) error {
	err := t.Queries.InsertPatient(ctx, queries.InsertPatientParams{
		ID: patient.ID, UserID: patient.UserID, Sex: patient.Sex, BirthDate: nullableBirthDate(patient),
		AgeValue: int64(patient.Age.Value), AgeUnit: patient.Age.Unit,
		Dependent: patient.Dependent, CreatedAt: patient.CreatedAt.Truncate(time.Microsecond),
	})
	if err != nil {
		return wrapError(ctx, "creating patient", err)
	}
	return nil
}

// GetPatient implements storage.PatientStore.
func (t tx) GetPatient(ctx context.Context, id string) (record.Patient, error) {
	row, err := t.Patient(ctx, id)
	if err != nil {
		return record.Patient{}, wrapNotFound(ctx, "reading patient", err)
	}
	return toPatient(row), nil
}

// LockPatient implements storage.PatientStore.
func (t tx) LockPatient(ctx context.Context, id string) (record.Patient, error) {
	row, err := t.Queries.LockPatient(ctx, id)
	if err != nil {
		return record.Patient{}, wrapNotFound(ctx, "reading patient", err)
	}
	return toPatient(queries.PatientRow(row)), nil
}

// ListPatients implements storage.PatientStore.
func (t tx) ListPatients(ctx context.Context, userID string, skipped, atMost int64) ([]record.Patient, int64, error) {
	if userID != "" {
		return t.listUserPatients(ctx, userID, skipped, atMost)
	}
	total, err := t.CountPatients(ctx)
	if err != nil {
		return nil, 0, wrapError(ctx, "counting patients", err)
	}
	rows, err := t.Patients(ctx, queries.PatientsParams{Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, wrapError(ctx, "listing patients", err)
	}
	page := make([]record.Patient, len(rows))
	for i, row := range rows {
		page[i] = toPatient(queries.PatientRow(row))
	}
	return page, total, nil
}

func (t tx) listUserPatients(ctx context.Context, userID string, skipped, atMost int64) ([]record.Patient, int64, error) {
	total, err := t.CountPatientsOf(ctx, userID)
	if err != nil {
		return nil, 0, wrapError(ctx, "counting patients of user", err)
	}
	rows, err := t.PatientsOf(ctx, queries.PatientsOfParams{UserID: userID, Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, wrapError(ctx, "listing patients of user", err)
	}
	page := make([]record.Patient, len(rows))
	for i, row := range rows {
		page[i] = toPatient(queries.PatientRow(row))
	}
	return page, total, nil
}

// UpdatePatient implements storage.PatientStore.
func (t tx) UpdatePatient(ctx context.Context, patient record.Patient) error {
	err := t.Queries.UpdatePatient(ctx, queries.UpdatePatientParams{
		ID: patient.ID, Sex: patient.Sex, BirthDate: nullableBirthDate(patient),
		AgeValue: int64(patient.Age.Value), AgeUnit: patient.Age.Unit, Dependent: patient.Dependent,
	})
	if err != nil {
		return wrapError(ctx, "updating patient", err)
	}
	return nil
}

// DeletePatient implements storage.PatientStore.
func (t tx) DeletePatient(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeletePatient(ctx, id)
	switch {
	case err != nil:
		return wrapError(ctx, "deleting patient", err)
	case deleted == 0:
		return storage.ErrNotFound
	}
	return nil
}
