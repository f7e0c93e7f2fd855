// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/postgres/internal/queries"
)

func patientOf(row queries.PatientRow) guidance.Patient {
	patient := guidance.Patient{
		ID: row.ID, UserID: row.UserID, Sex: row.Sex, Age: guidance.Age{Value: int(row.AgeValue), Unit: row.AgeUnit},
		Dependent: row.Dependent, CreatedAt: row.CreatedAt.UTC(),
	}
	if row.BirthDate != nil {
		patient.BirthDate = *row.BirthDate
	}
	return patient
}

// birthDate is nil where it is not known.
func birthDate(patient guidance.Patient) *civil.Date {
	if !patient.BirthDate.Valid() {
		return nil
	}
	return &patient.BirthDate
}

// InsertPatient implements storage.Patients.
func (t tx) InsertPatient(ctx context.Context, patient guidance.Patient) error {
	err := t.Queries.InsertPatient(ctx, queries.InsertPatientParams{
		ID: patient.ID, UserID: patient.UserID, Sex: patient.Sex, BirthDate: birthDate(patient),
		AgeValue: int64(patient.Age.Value), AgeUnit: patient.Age.Unit,
		Dependent: patient.Dependent, CreatedAt: patient.CreatedAt.Truncate(time.Microsecond),
	})
	if err != nil {
		return failure(ctx, "keep a patient", err)
	}
	return nil
}

// Patient implements storage.Patients.
func (t tx) Patient(ctx context.Context, id string) (guidance.Patient, error) {
	row, err := t.Queries.Patient(ctx, id)
	if err != nil {
		return guidance.Patient{}, found(ctx, "read a patient", err)
	}
	return patientOf(row), nil
}

// LockPatient implements storage.Patients.
func (t tx) LockPatient(ctx context.Context, id string) (guidance.Patient, error) {
	row, err := t.Queries.LockPatient(ctx, id)
	if err != nil {
		return guidance.Patient{}, found(ctx, "read a patient", err)
	}
	return patientOf(queries.PatientRow(row)), nil
}

// Patients implements storage.Patients.
func (t tx) Patients(ctx context.Context, userID string, skipped, atMost int64) ([]guidance.Patient, int64, error) {
	if userID != "" {
		return t.patientsOf(ctx, userID, skipped, atMost)
	}
	total, err := t.CountPatients(ctx)
	if err != nil {
		return nil, 0, failure(ctx, "count patients", err)
	}
	rows, err := t.Queries.Patients(ctx, queries.PatientsParams{Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, failure(ctx, "read patients", err)
	}
	page := make([]guidance.Patient, len(rows))
	for i, row := range rows {
		page[i] = patientOf(queries.PatientRow(row))
	}
	return page, total, nil
}

func (t tx) patientsOf(ctx context.Context, userID string, skipped, atMost int64) ([]guidance.Patient, int64, error) {
	total, err := t.CountPatientsOf(ctx, userID)
	if err != nil {
		return nil, 0, failure(ctx, "count the patients of a user", err)
	}
	rows, err := t.PatientsOf(ctx, queries.PatientsOfParams{UserID: userID, Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, failure(ctx, "read the patients of a user", err)
	}
	page := make([]guidance.Patient, len(rows))
	for i, row := range rows {
		page[i] = patientOf(queries.PatientRow(row))
	}
	return page, total, nil
}

// UpdatePatient implements storage.Patients.
func (t tx) UpdatePatient(ctx context.Context, patient guidance.Patient) error {
	err := t.Queries.UpdatePatient(ctx, queries.UpdatePatientParams{
		ID: patient.ID, Sex: patient.Sex, BirthDate: birthDate(patient),
		AgeValue: int64(patient.Age.Value), AgeUnit: patient.Age.Unit, Dependent: patient.Dependent,
	})
	if err != nil {
		return failure(ctx, "change a patient", err)
	}
	return nil
}

// DeletePatient implements storage.Patients.
func (t tx) DeletePatient(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeletePatient(ctx, id)
	switch {
	case err != nil:
		return failure(ctx, "erase a patient", err)
	case deleted == 0:
		return storage.ErrNotFound
	}
	return nil
}
