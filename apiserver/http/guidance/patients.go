// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/record/civil"
)

// today returns the current date.
func (h handlers) today() civil.Date { return civil.DateOf(h.Now()) }

// CreatePatient implements contract.StrictServerInterface.
func (h handlers) CreatePatient(ctx context.Context, request contract.CreatePatientRequestObject) (contract.CreatePatientResponseObject, error) {
	patient, err := h.readPatient(request.Body)
	if err != nil {
		return nil, err
	}
	patient, err = h.Users.CreatePatient(ctx, middleware.PrincipalFrom(ctx), patient)
	switch {
	case errors.Is(err, record.ErrReferenceNotFound):
		return nil, validationError{{Field: "user_id", Message: "no user has this id"}}
	case err != nil:
		return nil, wrapStorageError("patients", err)
	}
	return contract.CreatePatient201JSONResponse(h.encodePatient(patient)), nil
}

func (h handlers) readPatient(body *contract.NewPatient) (patient record.Patient, err error) {
	var fieldErrs validationError
	if patient.UserID = stringOrEmpty(body.UserID); patient.UserID == "" {
		fieldErrs = append(fieldErrs, contract.FieldError{Field: "user_id", Message: "missing, expected the id of a user"})
	}
	patient.Sex, err = record.ParseSex("sex", stringOrEmpty(body.Sex))
	fieldErrs.add(err)
	patient.BirthDate, err = record.ParseBirthDate("birth_date", stringOrEmpty(body.BirthDate), h.today())
	fieldErrs.add(err)
	patient.Age, err = readAge(body.Age)
	fieldErrs.add(err)
	patient.Dependent = body.Dependent != nil && *body.Dependent
	return patient, fieldErrs.errorOrNil()
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
	requested, fieldErrs := readPagination(ctx, params.Limit, params.Cursor)
	if len(fieldErrs) > 0 {
		return nil, validationError(fieldErrs)
	}
	patients, total, err := h.Users.ListPatients(ctx, middleware.PrincipalFrom(ctx), stringOrEmpty(params.UserID), requested.page())
	if err != nil {
		return nil, wrapStorageError("patients", err)
	}
	links, err := requested.withFilters(map[string]*string{"user_id": params.UserID}).links(total)
	if err != nil {
		return nil, err
	}
	response := contract.ListPatients200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.Patient, len(patients)),
	}
	for i, patient := range patients {
		response.Items[i] = h.encodePatient(patient)
	}
	return response, nil
}

// GetPatient implements contract.StrictServerInterface.
func (h handlers) GetPatient(ctx context.Context, request contract.GetPatientRequestObject) (contract.GetPatientResponseObject, error) {
	patient, err := h.Users.GetPatient(ctx, middleware.PrincipalFrom(ctx), request.PatientID)
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
	patient, err := h.Users.UpdatePatient(ctx, middleware.PrincipalFrom(ctx), request.PatientID, change)
	if err != nil {
		return nil, wrapStorageError("patients", err)
	}
	return contract.ChangePatient200JSONResponse(h.encodePatient(patient)), nil
}

// readPatientChange parses changes to a patient and returns a function that applies them.
func (h handlers) readPatientChange(body *contract.PatientChange) (func(*record.Patient) error, error) {
	var fieldErrs validationError
	sex, err := record.ParseSex("sex", nullableValue(body.Sex))
	fieldErrs.add(err)
	born, err := record.ParseBirthDate("birth_date", nullableValue(body.BirthDate), h.today())
	fieldErrs.add(err)
	given := nullableValue(body.Age)
	age, err := readAge(&given)
	fieldErrs.add(err)
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
	}, fieldErrs.errorOrNil()
}

// DeletePatient implements contract.StrictServerInterface.
func (h handlers) DeletePatient(ctx context.Context, request contract.DeletePatientRequestObject) (contract.DeletePatientResponseObject, error) {
	if err := h.Users.DeletePatient(ctx, middleware.PrincipalFrom(ctx), request.PatientID); err != nil {
		return nil, wrapStorageError("patients", err)
	}
	return contract.DeletePatient204Response{}, nil
}

func (h handlers) encodePatient(patient record.Patient) contract.Patient {
	encoded := contract.Patient{
		ID: patient.ID, UserID: patient.UserID, Sex: nilIfEmpty(contract.Sex(patient.Sex)), Dependent: patient.Dependent,
	}
	if patient.BirthDate.IsValid() {
		encoded.BirthDate = nilIfEmpty(patient.BirthDate.String())
	}
	if age := patient.AgeOn(h.today()); age.Known() {
		encoded.Age = &contract.Age{Value: age.Value, Unit: contract.AgeUnit(age.Unit)}
	}
	return encoded
}
