// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"errors"

	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// today returns the current date.
func (h handlers) today() civil.Date { return civil.DateOf(h.Now()) }

// CreatePatient implements contract.StrictServerInterface.
func (h handlers) CreatePatient(ctx context.Context, request contract.CreatePatientRequestObject) (contract.CreatePatientResponseObject, error) {
	patient, err := h.readPatient(request.Body)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	patient, err = h.Users.CreatePatient(limited, actorFrom(ctx), patient)
	switch {
	case errors.Is(err, storage.ErrReferenceNotFound):
		return nil, validationError{{Field: "user_id", Message: "no user has this id"}}
	case err != nil:
		return nil, wrapStorageError("patients", err)
	}
	return contract.CreatePatient201JSONResponse(h.encodePatient(patient)), nil
}

func (h handlers) readPatient(body *contract.NewPatient) (patient record.Patient, err error) {
	var wrong validationError
	if patient.UserID = stringOrEmpty(body.UserID); patient.UserID == "" {
		wrong = append(wrong, contract.FieldError{Field: "user_id", Message: "missing, expected the id of a user"})
	}
	patient.Sex, err = record.ParseSex("sex", stringOrEmpty(body.Sex))
	wrong.add(err)
	patient.BirthDate, err = record.ParseBirthDate("birth_date", stringOrEmpty(body.BirthDate), h.today())
	wrong.add(err)
	patient.Age, err = readAge(body.Age)
	wrong.add(err)
	patient.Dependent = body.Dependent != nil && *body.Dependent
	return patient, wrong.errorOrNil()
}

func readAge(given *contract.GivenAge) (record.Age, error) {
	if given == nil {
		return record.Age{}, nil
	}
	return record.ParseAge("age", given.Value, stringOrEmpty(given.Unit))
}

// ListPatients implements contract.StrictServerInterface.
func (h handlers) ListPatients(ctx context.Context, request contract.ListPatientsRequestObject) (contract.ListPatientsResponseObject, error) {
	params := request.Params
	wanted, wrong := readPagination(ctx, params.Limit, params.Cursor)
	if len(wrong) > 0 {
		return nil, validationError(wrong)
	}
	limited, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	patients, total, err := h.Users.ListPatients(limited, actorFrom(ctx), stringOrEmpty(params.UserID), wanted.usersPage())
	if err != nil {
		return nil, wrapStorageError("patients", err)
	}
	links, err := wanted.withFilters(map[string]*string{"user_id": params.UserID}).links(total)
	if err != nil {
		return nil, err
	}
	answer := contract.ListPatients200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.Patient, len(patients)),
	}
	for i, patient := range patients {
		answer.Items[i] = h.encodePatient(patient)
	}
	return answer, nil
}

// GetPatient implements contract.StrictServerInterface.
func (h handlers) GetPatient(ctx context.Context, request contract.GetPatientRequestObject) (contract.GetPatientResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	patient, err := h.Users.GetPatient(limited, actorFrom(ctx), request.PatientID)
	if err != nil {
		return nil, wrapStorageError("patients", err)
	}
	return contract.GetPatient200JSONResponse(h.encodePatient(patient)), nil
}

// ChangePatient implements contract.StrictServerInterface.
func (h handlers) ChangePatient(ctx context.Context, request contract.ChangePatientRequestObject) (contract.ChangePatientResponseObject, error) {
	change, err := h.readPatientChange(request.Body)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	patient, err := h.Users.UpdatePatient(limited, actorFrom(ctx), request.PatientID, change)
	if err != nil {
		return nil, wrapStorageError("patients", err)
	}
	return contract.ChangePatient200JSONResponse(h.encodePatient(patient)), nil
}

// readPatientChange parses the changes to a patient and returns a function that applies
// them.
func (h handlers) readPatientChange(body *contract.PatientChange) (func(*record.Patient) error, error) {
	var wrong validationError
	sex, err := record.ParseSex("sex", nullableValue(body.Sex))
	wrong.add(err)
	born, err := record.ParseBirthDate("birth_date", nullableValue(body.BirthDate), h.today())
	wrong.add(err)
	given := nullableValue(body.Age)
	age, err := readAge(&given)
	wrong.add(err)
	return func(patient *record.Patient) error {
		if user := stringOrEmpty(body.UserID); user != "" && user != patient.UserID {
			return validationError{{Field: "user_id", Message: "a patient cannot be moved to another user; create a new patient"}}
		}
		setIfSpecified(&patient.Sex, body.Sex, sex)
		if body.BirthDate.IsNull() || born.IsValid() {
			patient.BirthDate = born
		}
		if body.Age.IsNull() || age.Known() {
			patient.Age = age
		}
		if body.Dependent != nil {
			patient.Dependent = *body.Dependent
		}
		return nil
	}, wrong.errorOrNil()
}

// DeletePatient implements contract.StrictServerInterface.
func (h handlers) DeletePatient(ctx context.Context, request contract.DeletePatientRequestObject) (contract.DeletePatientResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	if err := h.Users.DeletePatient(limited, actorFrom(ctx), request.PatientID); err != nil {
		return nil, wrapStorageError("patients", err)
	}
	return contract.DeletePatient204Response{}, nil
}

func (h handlers) encodePatient(patient record.Patient) contract.Patient {
	described := contract.Patient{
		ID: patient.ID, UserID: patient.UserID, Sex: nilIfEmpty(contract.Sex(patient.Sex)), Dependent: patient.Dependent,
	}
	if patient.BirthDate.IsValid() {
		described.BirthDate = nilIfEmpty(patient.BirthDate.String())
	}
	if age := patient.AgeOn(h.today()); age.Known() {
		described.Age = &contract.Age{Value: age.Value, Unit: contract.AgeUnit(age.Unit)}
	}
	return described
}
