// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
)

func toPatient(row queries.PatientRow) record.Patient {
	patient := record.Patient{
		ID: row.ID, UserID: row.UserID, Sex: row.Sex, Age: record.Age{Value: int(row.AgeValue), Unit: row.AgeUnit},
		Dependent: row.Dependent != 0, CreatedAt: time.UnixMicro(row.CreatedAt).UTC(),
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

// boolToInt converts a bool to SQLite's representation.
func boolToInt(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// InsertPatient implements storage.PatientStore.
func (t tx) InsertPatient(ctx context.Context, patient record.Patient) error {
	err := t.Queries.InsertPatient(ctx, queries.InsertPatientParams{
		ID: patient.ID, UserID: patient.UserID, Sex: patient.Sex, BirthDate: nullableBirthDate(patient),
		AgeValue: int64(patient.Age.Value), AgeUnit: patient.Age.Unit,
		Dependent: boolToInt(patient.Dependent), CreatedAt: patient.CreatedAt.UnixMicro(),
	})
	if err != nil {
		return wrapError("creating patient", err)
	}
	return nil
}

// GetPatient implements storage.PatientStore.
func (t tx) GetPatient(ctx context.Context, id string) (record.Patient, error) {
	row, err := t.Patient(ctx, id)
	if err != nil {
		return record.Patient{}, wrapNotFound("reading patient", err)
	}
	return toPatient(row), nil
}

// LockPatient implements storage.PatientStore.
func (t tx) LockPatient(ctx context.Context, id string) (record.Patient, error) {
	return t.GetPatient(ctx, id)
}

// ListPatients implements storage.PatientStore.
func (t tx) ListPatients(ctx context.Context, userID string, skipped, atMost int64) ([]record.Patient, int64, error) {
	if userID != "" {
		return t.listUserPatients(ctx, userID, skipped, atMost)
	}
	total, err := t.CountPatients(ctx)
	if err != nil {
		return nil, 0, wrapError("counting patients", err)
	}
	rows, err := t.Patients(ctx, queries.PatientsParams{Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, wrapError("listing patients", err)
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
		return nil, 0, wrapError("counting patients of user", err)
	}
	rows, err := t.PatientsOf(ctx, queries.PatientsOfParams{UserID: userID, Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, wrapError("listing patients of user", err)
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
		AgeValue: int64(patient.Age.Value), AgeUnit: patient.Age.Unit, Dependent: boolToInt(patient.Dependent),
	})
	if err != nil {
		return wrapError("updating patient", err)
	}
	return nil
}

// DeletePatient implements storage.PatientStore.
func (t tx) DeletePatient(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeletePatient(ctx, id)
	switch {
	case err != nil:
		return wrapError("deleting patient", err)
	case deleted == 0:
		return storage.ErrNotFound
	}
	return nil
}
