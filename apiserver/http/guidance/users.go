// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"encoding/json"

	"github.com/oapi-codegen/nullable"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity/users"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

// CreateUser implements contract.StrictServerInterface.
func (h handlers) CreateUser(ctx context.Context, request contract.CreateUserRequestObject) (contract.CreateUserResponseObject, error) {
	contact, err := readContact(stringOrEmpty(request.Body.Email), stringOrEmpty(request.Body.Phone))
	if err != nil {
		return nil, err
	}
	user, err := h.Users.CreateUser(ctx, middleware.PrincipalFrom(ctx), contact)
	if err != nil {
		return nil, wrapStorageError("users", err)
	}
	return contract.CreateUser201JSONResponse(encodeUser(user)), nil
}

// readContact validates contact data, which may be empty.
func readContact(email, phone string) (contact record.Contact, err error) {
	var fieldErrs validationError
	if email != "" {
		contact.Email, err = record.ParseEmail("email", email)
		fieldErrs.add(err)
	}
	if phone != "" {
		contact.Phone, err = record.ParsePhone("phone", phone)
		fieldErrs.add(err)
	}
	return contact, fieldErrs.errorOrNil()
}

// ListUsers implements contract.StrictServerInterface.
func (h handlers) ListUsers(ctx context.Context, request contract.ListUsersRequestObject) (contract.ListUsersResponseObject, error) {
	params := request.Params
	requested, fieldErrs := readPagination(ctx, params.Limit, params.Cursor)
	if stringOrEmpty(params.Email) != "" && stringOrEmpty(params.Phone) != "" {
		fieldErrs = append(fieldErrs, contract.FieldError{Field: "phone", Message: "expected either email or phone, not both"})
	}
	filter, err := readContact(stringOrEmpty(params.Email), stringOrEmpty(params.Phone))
	if err := joinValidationErrors(fieldErrs, err); err != nil {
		return nil, err
	}
	users, total, err := h.Users.ListUsers(ctx, middleware.PrincipalFrom(ctx), filter, requested.page())
	if err != nil {
		return nil, wrapStorageError("users", err)
	}
	links, err := requested.withFilters(map[string]*string{"email": params.Email, "phone": params.Phone}).links(total)
	if err != nil {
		return nil, err
	}
	response := contract.ListUsers200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.User, len(users)),
	}
	for i, user := range users {
		response.Items[i] = encodeUser(user)
	}
	return response, nil
}

// GetUser implements contract.StrictServerInterface.
func (h handlers) GetUser(ctx context.Context, request contract.GetUserRequestObject) (contract.GetUserResponseObject, error) {
	user, err := h.Users.GetUser(ctx, middleware.PrincipalFrom(ctx), request.UserID)
	if err != nil {
		return nil, wrapStorageError("users", err)
	}
	return contract.GetUser200JSONResponse(encodeUser(user)), nil
}

// ChangeUser implements contract.StrictServerInterface.
func (h handlers) ChangeUser(ctx context.Context, request contract.ChangeUserRequestObject) (contract.ChangeUserResponseObject, error) {
	contact, err := readContact(nullableValue(request.Body.Email), nullableValue(request.Body.Phone))
	if err != nil {
		return nil, err
	}
	user, err := h.Users.UpdateUser(ctx, middleware.PrincipalFrom(ctx), request.UserID, func(current *record.Contact) {
		setIfSpecified(&current.Email, request.Body.Email, contact.Email)
		setIfSpecified(&current.Phone, request.Body.Phone, contact.Phone)
	})
	if err != nil {
		return nil, wrapStorageError("users", err)
	}
	return contract.ChangeUser200JSONResponse(encodeUser(user)), nil
}

// nullableValue returns the zero value for a field that is unset or null.
func nullableValue[T any](field nullable.Nullable[T]) (value T) {
	value, _ = field.Get()
	return value
}

// setIfSpecified updates a stored value if the field is set. Null removes the value, and an
// empty string counts as unset.
func setIfSpecified(stored *string, field nullable.Nullable[string], value string) {
	if field.IsNull() || value != "" {
		*stored = value
	}
}

// DeleteUser implements contract.StrictServerInterface.
func (h handlers) DeleteUser(ctx context.Context, request contract.DeleteUserRequestObject) (contract.DeleteUserResponseObject, error) {
	if err := h.Users.DeleteUser(ctx, middleware.PrincipalFrom(ctx), request.UserID); err != nil {
		return nil, wrapStorageError("users", err)
	}
	return contract.DeleteUser204Response{}, nil
}

// ExportUser implements contract.StrictServerInterface.
func (h handlers) ExportUser(ctx context.Context, request contract.ExportUserRequestObject) (contract.ExportUserResponseObject, error) {
	export, err := h.Users.ExportUser(ctx, middleware.PrincipalFrom(ctx), request.UserID)
	if err != nil {
		return nil, wrapStorageError("users", err)
	}
	response := contract.ExportUser200JSONResponse{
		User:     encodeUser(export.User),
		Patients: make([]contract.Patient, len(export.Patients)),
		Audit:    encodeAudit(export.AuditRecords),
	}
	for i, patient := range export.Patients {
		response.Patients[i] = h.encodePatient(patient)
	}
	response.Surveys, err = encodeExportedSurveys(export.Surveys)
	return response, err
}

func encodeExportedSurveys(exported []users.ExportedSurvey) ([]contract.SurveyExport, error) {
	encoded := make([]contract.SurveyExport, len(exported))
	for i, survey := range exported {
		summary, err := encodeSummary(survey.Summary)
		if err != nil {
			return nil, err
		}
		assessment, err := json.Marshal(survey.Assessment)
		if err != nil {
			return nil, err
		}
		encoded[i] = contract.SurveyExport{Survey: summary.Survey, Questions: summary.Questions, EvidenceAssessment: assessment}
	}
	return encoded, nil
}

func encodeUser(user record.User) contract.User {
	return contract.User{ID: user.ID, Email: nilIfEmpty(user.Email), Phone: nilIfEmpty(user.Phone)}
}

// nilIfEmpty returns nil for an empty value.
func nilIfEmpty[T ~string](text T) *T {
	if text == "" {
		return nil
	}
	return &text
}
