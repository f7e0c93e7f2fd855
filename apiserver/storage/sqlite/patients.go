// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"time"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage/sqlite/internal/queries"
)

func patientOf(row queries.PatientRow) guidance.Patient {
	patient := guidance.Patient{
		ID: row.ID, UserID: row.UserID, Sex: row.Sex, Age: guidance.Age{Value: int(row.AgeValue), Unit: row.AgeUnit},
		Dependent: row.Dependent != 0, CreatedAt: time.UnixMicro(row.CreatedAt).UTC(),
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

// truth is a boolean as SQLite has it.
func truth(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// InsertPatient implements storage.Patients.
func (t tx) InsertPatient(ctx context.Context, patient guidance.Patient) error {
	err := t.Queries.InsertPatient(ctx, queries.InsertPatientParams{
		ID: patient.ID, UserID: patient.UserID, Sex: patient.Sex, BirthDate: birthDate(patient),
		AgeValue: int64(patient.Age.Value), AgeUnit: patient.Age.Unit,
		Dependent: truth(patient.Dependent), CreatedAt: patient.CreatedAt.UnixMicro(),
	})
	if err != nil {
		return failure("keep a patient", err)
	}
	return nil
}

// Patient implements storage.Patients.
func (t tx) Patient(ctx context.Context, id string) (guidance.Patient, error) {
	row, err := t.Queries.Patient(ctx, id)
	if err != nil {
		return guidance.Patient{}, found("read a patient", err)
	}
	return patientOf(row), nil
}

// LockPatient implements storage.Patients.
func (t tx) LockPatient(ctx context.Context, id string) (guidance.Patient, error) {
	return t.Patient(ctx, id)
}

// Patients implements storage.Patients.
func (t tx) Patients(ctx context.Context, userID string, skipped, atMost int64) ([]guidance.Patient, int64, error) {
	if userID != "" {
		return t.patientsOf(ctx, userID, skipped, atMost)
	}
	total, err := t.CountPatients(ctx)
	if err != nil {
		return nil, 0, failure("count patients", err)
	}
	rows, err := t.Queries.Patients(ctx, queries.PatientsParams{Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, failure("read patients", err)
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
		return nil, 0, failure("count the patients of a user", err)
	}
	rows, err := t.PatientsOf(ctx, queries.PatientsOfParams{UserID: userID, Skipped: skipped, AtMost: atMost})
	if err != nil {
		return nil, 0, failure("read the patients of a user", err)
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
		AgeValue: int64(patient.Age.Value), AgeUnit: patient.Age.Unit, Dependent: truth(patient.Dependent),
	})
	if err != nil {
		return failure("change a patient", err)
	}
	return nil
}

// DeletePatient implements storage.Patients.
func (t tx) DeletePatient(ctx context.Context, id string) error {
	deleted, err := t.Queries.DeletePatient(ctx, id)
	switch {
	case err != nil:
		return failure("erase a patient", err)
	case deleted == 0:
		return storage.ErrNotFound
	}
	return nil
}
