// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"encoding/json"

	"github.com/oapi-codegen/nullable"

	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/people"
)

// CreateUser implements the contract.
func (h handlers) CreateUser(ctx context.Context, request contract.CreateUserRequestObject) (contract.CreateUserResponseObject, error) {
	contact, err := readContact(orEmpty(request.Body.Email), orEmpty(request.Body.Phone))
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	user, err := h.People.CreateUser(limited, actor(ctx), contact)
	if err != nil {
		return nil, kept("users", err)
	}
	return contract.CreateUser201JSONResponse(describeUser(user)), nil
}

// readContact reads contact data, empty for none, and says what is wrong with it.
func readContact(email, phone string) (contact guidance.Contact, err error) {
	var wrong refusal
	if email != "" {
		contact.Email, err = guidance.ReadEmail("email", email)
		wrong.note(err)
	}
	if phone != "" {
		contact.Phone, err = guidance.ReadPhone("phone", phone)
		wrong.note(err)
	}
	return contact, wrong.err()
}

// ListUsers implements the contract.
func (h handlers) ListUsers(ctx context.Context, request contract.ListUsersRequestObject) (contract.ListUsersResponseObject, error) {
	params := request.Params
	wanted, wrong := readPage(ctx, params.Limit, params.Cursor)
	if orEmpty(params.Email) != "" && orEmpty(params.Phone) != "" {
		wrong = append(wrong, contract.FieldError{Field: "phone", Message: "expected one of email and phone, not both"})
	}
	find, err := readContact(orEmpty(params.Email), orEmpty(params.Phone))
	if err := joined(wrong, err); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	users, total, err := h.People.Users(limited, actor(ctx), find, wanted.register())
	if err != nil {
		return nil, kept("users", err)
	}
	links, err := wanted.filtered(map[string]*string{"email": params.Email, "phone": params.Phone}).of(total)
	if err != nil {
		return nil, err
	}
	answer := contract.ListUsers200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.User, len(users)),
	}
	for i, user := range users {
		answer.Items[i] = describeUser(user)
	}
	return answer, nil
}

// GetUser implements the contract.
func (h handlers) GetUser(ctx context.Context, request contract.GetUserRequestObject) (contract.GetUserResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	user, err := h.People.User(limited, actor(ctx), request.UserID)
	if err != nil {
		return nil, kept("users", err)
	}
	return contract.GetUser200JSONResponse(describeUser(user)), nil
}

// ChangeUser implements the contract.
func (h handlers) ChangeUser(ctx context.Context, request contract.ChangeUserRequestObject) (contract.ChangeUserResponseObject, error) {
	contact, err := readContact(valueOf(request.Body.Email), valueOf(request.Body.Phone))
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	user, err := h.People.ChangeUser(limited, actor(ctx), request.UserID, func(now *guidance.Contact) {
		put(&now.Email, request.Body.Email, contact.Email)
		put(&now.Phone, request.Body.Phone, contact.Phone)
	})
	if err != nil {
		return nil, kept("users", err)
	}
	return contract.ChangeUser200JSONResponse(describeUser(user)), nil
}

// valueOf is empty for a field that was left out or is null.
func valueOf[T any](field nullable.Nullable[T]) (value T) {
	value, _ = field.Get()
	return value
}

// put changes what is kept when the field was given: null takes it away, and an
// empty string is one that was not given.
func put(kept *string, field nullable.Nullable[string], value string) {
	if field.IsNull() || value != "" {
		*kept = value
	}
}

// DeleteUser implements the contract.
func (h handlers) DeleteUser(ctx context.Context, request contract.DeleteUserRequestObject) (contract.DeleteUserResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	if err := h.People.DeleteUser(limited, actor(ctx), request.UserID); err != nil {
		return nil, kept("users", err)
	}
	return contract.DeleteUser204Response{}, nil
}

// ExportUser implements the contract.
func (h handlers) ExportUser(ctx context.Context, request contract.ExportUserRequestObject) (contract.ExportUserResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	export, err := h.People.Export(limited, actor(ctx), request.UserID)
	if err != nil {
		return nil, kept("users", err)
	}
	answer := contract.ExportUser200JSONResponse{
		User:     describeUser(export.User),
		Patients: make([]contract.Patient, len(export.Patients)),
		Audit:    describeAudit(export.Audit),
	}
	for i, patient := range export.Patients {
		answer.Patients[i] = h.describePatient(patient)
	}
	answer.Surveys, err = describeExported(export.Surveys)
	return answer, err
}

func describeExported(exported []people.ExportedSurvey) ([]contract.SurveyExport, error) {
	described := make([]contract.SurveyExport, len(exported))
	for i, one := range exported {
		summary, err := describeSummary(one.Summary)
		if err != nil {
			return nil, err
		}
		assessment, err := json.Marshal(one.Assessment)
		if err != nil {
			return nil, err
		}
		described[i] = contract.SurveyExport{Survey: summary.Survey, Questions: summary.Questions, EvidenceAssessment: assessment}
	}
	return described, nil
}

func describeUser(user guidance.User) contract.User {
	return contract.User{ID: user.ID, Email: orNull(user.Email), Phone: orNull(user.Phone)}
}

// orNull is nil for what is empty.
func orNull[T ~string](text T) *T {
	if text == "" {
		return nil
	}
	return &text
}
