// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"errors"

	"github.com/anamnesis-dev/anamnesis/apiserver/civil"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/storage"
)

// today is the day of the call.
func (h handlers) today() civil.Date { return civil.DateOf(h.Now()) }

// CreatePatient implements the contract.
func (h handlers) CreatePatient(ctx context.Context, request contract.CreatePatientRequestObject) (contract.CreatePatientResponseObject, error) {
	patient, err := h.readPatient(request.Body)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	patient, err = h.People.CreatePatient(limited, actor(ctx), patient)
	switch {
	case errors.Is(err, storage.ErrDangling):
		return nil, refusal{{Field: "user_id", Message: "there is no user with this id"}}
	case err != nil:
		return nil, kept("patients", err)
	}
	return contract.CreatePatient201JSONResponse(h.describePatient(patient)), nil
}

func (h handlers) readPatient(body *contract.NewPatient) (patient guidance.Patient, err error) {
	var wrong refusal
	if patient.UserID = orEmpty(body.UserID); patient.UserID == "" {
		wrong = append(wrong, contract.FieldError{Field: "user_id", Message: "missing, expected the id of a user"})
	}
	patient.Sex, err = guidance.ReadSex("sex", orEmpty(body.Sex))
	wrong.note(err)
	patient.BirthDate, err = guidance.ReadBirthDate("birth_date", orEmpty(body.BirthDate), h.today())
	wrong.note(err)
	patient.Age, err = readAge(body.Age)
	wrong.note(err)
	patient.Dependent = body.Dependent != nil && *body.Dependent
	return patient, wrong.err()
}

func readAge(given *contract.GivenAge) (guidance.Age, error) {
	if given == nil {
		return guidance.Age{}, nil
	}
	return guidance.ReadAge("age", given.Value, orEmpty(given.Unit))
}

// ListPatients implements the contract.
func (h handlers) ListPatients(ctx context.Context, request contract.ListPatientsRequestObject) (contract.ListPatientsResponseObject, error) {
	params := request.Params
	wanted, wrong := readPage(ctx, params.Limit, params.Cursor)
	if len(wrong) > 0 {
		return nil, refusal(wrong)
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	patients, total, err := h.People.Patients(limited, actor(ctx), orEmpty(params.UserID), wanted.register())
	if err != nil {
		return nil, kept("patients", err)
	}
	links, err := wanted.filtered(map[string]*string{"user_id": params.UserID}).of(total)
	if err != nil {
		return nil, err
	}
	answer := contract.ListPatients200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.Patient, len(patients)),
	}
	for i, patient := range patients {
		answer.Items[i] = h.describePatient(patient)
	}
	return answer, nil
}

// GetPatient implements the contract.
func (h handlers) GetPatient(ctx context.Context, request contract.GetPatientRequestObject) (contract.GetPatientResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	patient, err := h.People.Patient(limited, actor(ctx), request.PatientID)
	if err != nil {
		return nil, kept("patients", err)
	}
	return contract.GetPatient200JSONResponse(h.describePatient(patient)), nil
}

// ChangePatient implements the contract.
func (h handlers) ChangePatient(ctx context.Context, request contract.ChangePatientRequestObject) (contract.ChangePatientResponseObject, error) {
	change, err := h.readPatientChange(request.Body)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	patient, err := h.People.ChangePatient(limited, actor(ctx), request.PatientID, change)
	if err != nil {
		return nil, kept("patients", err)
	}
	return contract.ChangePatient200JSONResponse(h.describePatient(patient)), nil
}

// readPatientChange reads what a patient is to become.
func (h handlers) readPatientChange(body *contract.PatientChange) (func(*guidance.Patient) error, error) {
	var wrong refusal
	sex, err := guidance.ReadSex("sex", valueOf(body.Sex))
	wrong.note(err)
	born, err := guidance.ReadBirthDate("birth_date", valueOf(body.BirthDate), h.today())
	wrong.note(err)
	given := valueOf(body.Age)
	age, err := readAge(&given)
	wrong.note(err)
	return func(patient *guidance.Patient) error {
		if user := orEmpty(body.UserID); user != "" && user != patient.UserID {
			return refusal{{Field: "user_id", Message: "a patient stays with its user; make a new patient"}}
		}
		put(&patient.Sex, body.Sex, sex)
		if body.BirthDate.IsNull() || born.Valid() {
			patient.BirthDate = born
		}
		if body.Age.IsNull() || age.Known() {
			patient.Age = age
		}
		if body.Dependent != nil {
			patient.Dependent = *body.Dependent
		}
		return nil
	}, wrong.err()
}

// DeletePatient implements the contract.
func (h handlers) DeletePatient(ctx context.Context, request contract.DeletePatientRequestObject) (contract.DeletePatientResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	if err := h.People.DeletePatient(limited, actor(ctx), request.PatientID); err != nil {
		return nil, kept("patients", err)
	}
	return contract.DeletePatient204Response{}, nil
}

func (h handlers) describePatient(patient guidance.Patient) contract.Patient {
	described := contract.Patient{
		ID: patient.ID, UserID: patient.UserID, Sex: orNull(contract.Sex(patient.Sex)), Dependent: patient.Dependent,
	}
	if patient.BirthDate.Valid() {
		described.BirthDate = orNull(patient.BirthDate.String())
	}
	if age := patient.AgeOn(h.today()); age.Known() {
		described.Age = &contract.Age{Value: age.Value, Unit: contract.AgeUnit(age.Unit)}
	}
	return described
}
