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
	wanted, err := readSurvey(request.Body)
	if err != nil {
		return nil, err
	}
	wanted.AcceptLanguage = stringOrEmpty(request.Params.AcceptLanguage)
	made, err := h.Surveys.Create(ctx, middleware.PrincipalFrom(ctx), wanted)
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	return contract.CreateSurvey201JSONResponse(encodeSurvey(made)), nil
}

func readSurvey(body *contract.NewSurvey) (wanted service.CreateRequest, err error) {
	var wrong validationError
	wanted = service.CreateRequest{
		PatientID: stringOrEmpty(body.PatientID), Language: stringOrEmpty(body.Language),
		CreateOptions: flow.CreateOptions{
			Type: stringOrEmpty(body.Type), Sections: body.Sections, Evidence: readEvidence(body.Evidence),
			VisitDate: body.VisitDate, VisitReason: body.VisitReason, Specialist: body.Specialist,
		},
	}
	wanted.ExpirationDate, err = record.ParseTime("expiration_date", stringOrEmpty(body.ExpirationDate))
	wrong.add(err)
	wanted.NotificationDate, err = record.ParseTime("notification_date", stringOrEmpty(body.NotificationDate))
	wrong.add(err)
	return wanted, wrong.errorOrNil()
}

// readEvidence converts evidence: nil if unset, empty for an empty list.
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
	wanted, wrong := readPagination(ctx, params.Limit, params.Cursor)
	status := record.Status(stringOrEmpty(params.Status))
	if status != "" && !contract.SurveyStatus(status).Valid() {
		wrong = append(wrong, contract.FieldError{Field: "status", Message: "expected new, pending or completed"})
	}
	if len(wrong) > 0 {
		return nil, validationError(wrong)
	}
	list, total, err := h.Surveys.List(ctx, middleware.PrincipalFrom(ctx), stringOrEmpty(params.PatientID), status, wanted.page())
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	links, err := wanted.withFilters(map[string]*string{"patient_id": params.PatientID, "status": params.Status}).links(total)
	if err != nil {
		return nil, err
	}
	answer := contract.ListSurveys200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.Survey, len(list)),
	}
	for i, one := range list {
		answer.Items[i] = encodeSurvey(one)
	}
	return answer, nil
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
	var wrong validationError
	change := service.UpdateRequest{
		Language: stringOrEmpty(body.Language),
		Patch: flow.Patch{
			PatientID: nonEmpty(body.PatientID), Type: nonEmpty(body.Type), Sections: body.Sections, Evidence: readEvidence(body.Evidence),
			VisitDate: body.VisitDate, VisitReason: body.VisitReason, Specialist: body.Specialist,
		},
	}
	date := func(field string, sent nullable.Nullable[string]) *time.Time {
		moment, err := record.ParseTime(field, nullableValue(sent))
		wrong.add(err)
		if sent.IsNull() || !moment.IsZero() {
			return &moment
		}
		return nil
	}
	change.ExpirationDate = date("expiration_date", body.ExpirationDate)
	change.NotificationDate = date("notification_date", body.NotificationDate)
	return change, wrong.errorOrNil()
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
	by := middleware.PrincipalFrom(ctx)
	found, err := h.Surveys.Get(ctx, by, request.SurveyID)
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	patient, err := h.Users.GetPatient(ctx, by, found.PatientID)
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

// requestBaseURL returns the base URL of the instance as the caller wrote it.
func requestBaseURL(ctx context.Context) string {
	address, _ := ctx.Value(requestURLKey{}).(url.URL)
	return (&url.URL{Scheme: address.Scheme, Host: address.Host}).String()
}

func encodeSurvey(s record.Survey) contract.Survey {
	described := contract.Survey{
		ID: s.ID, PatientID: s.PatientID, Type: contract.SurveyType(s.Type), Sections: s.Sections,
		Status: contract.SurveyStatus(s.Status), Language: s.Language,
		ExpirationDate: formatTime(s.ExpirationDate), NotificationDate: formatTime(s.NotificationDate),
		Evidence:  make([]contract.SurveyEvidence, len(s.Evidence)),
		VisitDate: jsonOrNull(s.VisitDate), VisitReason: jsonOrNull(s.VisitReason), Specialist: jsonOrNull(s.Specialist),
	}
	for i, evidence := range s.Evidence {
		described.Evidence[i] = contract.SurveyEvidence{
			ID: evidence.ID, ChoiceID: contract.ChoiceID(evidence.ChoiceID), Source: nilIfEmpty(evidence.Source),
		}
	}
	return described
}

// formatTime returns nil for the zero time.
func formatTime(moment time.Time) *string {
	if moment.IsZero() {
		return nil
	}
	text := moment.UTC().Format(time.RFC3339Nano)
	return &text
}

// jsonOrNull returns null for an empty value.
func jsonOrNull(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("null")
	}
	return value
}
