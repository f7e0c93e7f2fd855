// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/oapi-codegen/nullable"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/flow"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/service"
)

// CreateSurvey implements contract.StrictServerInterface.
func (h handlers) CreateSurvey(ctx context.Context, request contract.CreateSurveyRequestObject) (contract.CreateSurveyResponseObject, error) {
	requested, err := readSurvey(request.Body)
	if err != nil {
		return nil, err
	}
	requested.AcceptLanguage = stringOrEmpty(request.Params.AcceptLanguage)
	created, err := h.Surveys.Create(ctx, middleware.PrincipalFrom(ctx), requested)
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	return contract.CreateSurvey201JSONResponse(encodeSurvey(created)), nil
}

func readSurvey(body *contract.NewSurvey) (requested service.CreateRequest, err error) {
	var fieldErrs validationError
	requested = service.CreateRequest{
		PatientID: stringOrEmpty(body.PatientID), Language: stringOrEmpty(body.Language),
		CreateOptions: flow.CreateOptions{
			Type: stringOrEmpty(body.Type), Sections: body.Sections, Evidence: readEvidence(body.Evidence),
			VisitDate: body.VisitDate, VisitReason: body.VisitReason, Specialist: body.Specialist,
		},
	}
	requested.ExpirationDate, err = record.ParseTime("expiration_date", stringOrEmpty(body.ExpirationDate))
	fieldErrs.add(err)
	requested.NotificationDate, err = record.ParseTime("notification_date", stringOrEmpty(body.NotificationDate))
	fieldErrs.add(err)
	return requested, fieldErrs.errorOrNil()
}

// readEvidence converts evidence. It distinguishes nil (unset) from an empty list.
func readEvidence(given []contract.GivenEvidence) []assessment.Evidence {
	if given == nil {
		return nil
	}
	evidence := make([]assessment.Evidence, len(given))
	for i, item := range given {
		evidence[i] = assessment.Evidence{ID: stringOrEmpty(item.ID), Choice: stringOrEmpty(item.ChoiceID), Source: stringOrEmpty(item.Source)}
	}
	return evidence
}

// ListSurveys implements contract.StrictServerInterface.
func (h handlers) ListSurveys(ctx context.Context, request contract.ListSurveysRequestObject) (contract.ListSurveysResponseObject, error) {
	params := request.Params
	requested, fieldErrs := readPagination(ctx, params.Limit, params.Cursor)
	status := record.Status(stringOrEmpty(params.Status))
	if status != "" && !contract.SurveyStatus(status).Valid() {
		fieldErrs = append(fieldErrs, contract.FieldError{Field: "status", Message: "expected new, pending or completed"})
	}
	if len(fieldErrs) > 0 {
		return nil, validationError(fieldErrs)
	}
	list, total, err := h.Surveys.List(ctx, middleware.PrincipalFrom(ctx), stringOrEmpty(params.PatientID), status, requested.page())
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	links, err := requested.withFilters(map[string]*string{"patient_id": params.PatientID, "status": params.Status}).links(total)
	if err != nil {
		return nil, err
	}
	response := contract.ListSurveys200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.Survey, len(list)),
	}
	for i, survey := range list {
		response.Items[i] = encodeSurvey(survey)
	}
	return response, nil
}

// GetSurvey implements contract.StrictServerInterface.
func (h handlers) GetSurvey(ctx context.Context, request contract.GetSurveyRequestObject) (contract.GetSurveyResponseObject, error) {
	found, err := h.Surveys.Get(ctx, middleware.PrincipalFrom(ctx), request.SurveyID)
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	return contract.GetSurvey200JSONResponse(encodeSurvey(found)), nil
}

// ChangeSurvey implements contract.StrictServerInterface.
func (h handlers) ChangeSurvey(ctx context.Context, request contract.ChangeSurveyRequestObject) (contract.ChangeSurveyResponseObject, error) {
	change, err := readSurveyChange(request.Body)
	if err != nil {
		return nil, err
	}
	changed, err := h.Surveys.Update(ctx, middleware.PrincipalFrom(ctx), request.SurveyID, change)
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	return contract.ChangeSurvey200JSONResponse(encodeSurvey(changed)), nil
}

func readSurveyChange(body *contract.SurveyChange) (service.UpdateRequest, error) {
	var fieldErrs validationError
	change := service.UpdateRequest{
		Language: stringOrEmpty(body.Language),
		Patch: flow.Patch{
			PatientID: nonEmpty(body.PatientID), Type: nonEmpty(body.Type), Sections: body.Sections, Evidence: readEvidence(body.Evidence),
			VisitDate: body.VisitDate, VisitReason: body.VisitReason, Specialist: body.Specialist,
		},
	}
	date := func(field string, sent nullable.Nullable[string]) *time.Time {
		timestamp, err := record.ParseTime(field, nullableValue(sent))
		fieldErrs.add(err)
		if sent.IsNull() || !timestamp.IsZero() {
			return &timestamp
		}
		return nil
	}
	change.ExpirationDate = date("expiration_date", body.ExpirationDate)
	change.NotificationDate = date("notification_date", body.NotificationDate)
	return change, fieldErrs.errorOrNil()
}

// nonEmpty returns the text, or nil if it is unset or empty.
func nonEmpty(text *string) *string { return nilIfEmpty(stringOrEmpty(text)) }

// DeleteSurvey implements contract.StrictServerInterface.
func (h handlers) DeleteSurvey(ctx context.Context, request contract.DeleteSurveyRequestObject) (contract.DeleteSurveyResponseObject, error) {
	if err := h.Surveys.Delete(ctx, middleware.PrincipalFrom(ctx), request.SurveyID); err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	return contract.DeleteSurvey204Response{}, nil
}

// GetMagicLink implements contract.StrictServerInterface.
func (h handlers) GetMagicLink(ctx context.Context, request contract.GetMagicLinkRequestObject) (contract.GetMagicLinkResponseObject, error) {
	principal := middleware.PrincipalFrom(ctx)
	found, err := h.Surveys.Get(ctx, principal, request.SurveyID)
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	patient, err := h.Users.GetPatient(ctx, principal, found.PatientID)
	if err != nil {
		return nil, wrapStorageError("patients", err)
	}
	code, err := h.Users.CreateMagicCode(ctx, identity.Session{UserID: patient.UserID, SurveyID: found.ID}, found.ExpirationDate)
	if err != nil {
		return nil, wrapStorageError("users", err)
	}
	link := cmp.Or(h.PublicURL(), requestBaseURL(ctx)) + "/survey/" + found.ID + "?" + url.Values{"magicCode": {code}}.Encode()
	return contract.GetMagicLink200JSONResponse{MagicLink: link}, nil
}

// requestBaseURL returns the base URL of the instance as used in the request.
func requestBaseURL(ctx context.Context) string {
	address, _ := ctx.Value(requestURLKey{}).(url.URL)
	return (&url.URL{Scheme: address.Scheme, Host: address.Host}).String()
}

func encodeSurvey(s record.Survey) contract.Survey {
	encoded := contract.Survey{
		ID: s.ID, PatientID: s.PatientID, Type: contract.SurveyType(s.Type), Sections: s.Sections,
		Status: contract.SurveyStatus(s.Status), Language: s.Language,
		ExpirationDate: formatTime(s.ExpirationDate), NotificationDate: formatTime(s.NotificationDate),
		Evidence:  make([]contract.SurveyEvidence, len(s.Evidence)),
		VisitDate: jsonOrNull(s.VisitDate), VisitReason: jsonOrNull(s.VisitReason), Specialist: jsonOrNull(s.Specialist),
	}
	for i, evidence := range s.Evidence {
		encoded.Evidence[i] = contract.SurveyEvidence{
			ID: evidence.ID, ChoiceID: contract.ChoiceID(evidence.ChoiceID), Source: nilIfEmpty(evidence.Source),
		}
	}
	return encoded
}

// formatTime returns nil for the zero time.
func formatTime(timestamp time.Time) *string {
	if timestamp.IsZero() {
		return nil
	}
	text := timestamp.UTC().Format(time.RFC3339Nano)
	return &text
}

// jsonOrNull returns null for an empty value.
func jsonOrNull(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("null")
	}
	return value
}
