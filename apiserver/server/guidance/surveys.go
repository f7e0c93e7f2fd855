// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/oapi-codegen/nullable"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance/survey"
	"github.com/anamnesis-dev/anamnesis/apiserver/identity"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/surveys"
)

// CreateSurvey implements the contract.
func (h handlers) CreateSurvey(ctx context.Context, request contract.CreateSurveyRequestObject) (contract.CreateSurveyResponseObject, error) {
	wanted, err := readSurvey(request.Body)
	if err != nil {
		return nil, err
	}
	wanted.Accepts = orEmpty(request.Params.AcceptLanguage)
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	made, err := h.Surveys.Create(limited, actor(ctx), wanted)
	if err != nil {
		return nil, kept("surveys", err)
	}
	return contract.CreateSurvey201JSONResponse(describeSurvey(made)), nil
}

func readSurvey(body *contract.NewSurvey) (wanted surveys.NewSurvey, err error) {
	var wrong refusal
	wanted = surveys.NewSurvey{
		PatientID: orEmpty(body.PatientID), Language: orEmpty(body.Language),
		Creation: survey.Creation{
			Type: orEmpty(body.Type), Sections: body.Sections, Evidence: readEvidence(body.Evidence),
			VisitDate: body.VisitDate, VisitReason: body.VisitReason, Specialist: body.Specialist,
		},
	}
	wanted.ExpirationDate, err = guidance.ReadMoment("expiration_date", orEmpty(body.ExpirationDate))
	wrong.note(err)
	wanted.NotificationDate, err = guidance.ReadMoment("notification_date", orEmpty(body.NotificationDate))
	wrong.note(err)
	return wanted, wrong.err()
}

// readEvidence is nil where none was given, and empty where an empty list was.
func readEvidence(given []contract.GivenEvidence) []assessment.Evidence {
	if given == nil {
		return nil
	}
	evidence := make([]assessment.Evidence, len(given))
	for i, item := range given {
		evidence[i] = assessment.Evidence{ID: orEmpty(item.ID), Choice: orEmpty(item.ChoiceID), Source: orEmpty(item.Source)}
	}
	return evidence
}

// ListSurveys implements the contract.
func (h handlers) ListSurveys(ctx context.Context, request contract.ListSurveysRequestObject) (contract.ListSurveysResponseObject, error) {
	params := request.Params
	wanted, wrong := readPage(ctx, params.Limit, params.Cursor)
	status := guidance.Status(orEmpty(params.Status))
	if status != "" && !contract.SurveyStatus(status).Valid() {
		wrong = append(wrong, contract.FieldError{Field: "status", Message: "expected new, pending or completed"})
	}
	if len(wrong) > 0 {
		return nil, refusal(wrong)
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	list, total, err := h.Surveys.Surveys(limited, actor(ctx), orEmpty(params.PatientID), status, wanted.surveys())
	if err != nil {
		return nil, kept("surveys", err)
	}
	links, err := wanted.filtered(map[string]*string{"patient_id": params.PatientID, "status": params.Status}).of(total)
	if err != nil {
		return nil, err
	}
	answer := contract.ListSurveys200JSONResponse{
		Self: links.self, First: links.first, Last: links.last, Prev: links.prev, Next: links.next,
		Items: make([]contract.Survey, len(list)),
	}
	for i, one := range list {
		answer.Items[i] = describeSurvey(one)
	}
	return answer, nil
}

// surveys is the part of a list as the register of surveys has it.
func (p page) surveys() surveys.Page { return surveys.Page{Skipped: p.skipped(), AtMost: p.limit} }

// GetSurvey implements the contract.
func (h handlers) GetSurvey(ctx context.Context, request contract.GetSurveyRequestObject) (contract.GetSurveyResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	found, err := h.Surveys.Survey(limited, actor(ctx), request.SurveyID)
	if err != nil {
		return nil, kept("surveys", err)
	}
	return contract.GetSurvey200JSONResponse(describeSurvey(found)), nil
}

// ChangeSurvey implements the contract.
func (h handlers) ChangeSurvey(ctx context.Context, request contract.ChangeSurveyRequestObject) (contract.ChangeSurveyResponseObject, error) {
	change, err := readSurveyChange(request.Body)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	changed, err := h.Surveys.Change(limited, actor(ctx), request.SurveyID, change)
	if err != nil {
		return nil, kept("surveys", err)
	}
	return contract.ChangeSurvey200JSONResponse(describeSurvey(changed)), nil
}

func readSurveyChange(body *contract.SurveyChange) (surveys.Change, error) {
	var wrong refusal
	change := surveys.Change{
		Language: orEmpty(body.Language),
		Patch: survey.Patch{
			PatientID: given(body.PatientID), Type: given(body.Type), Sections: body.Sections, Evidence: readEvidence(body.Evidence),
			VisitDate: body.VisitDate, VisitReason: body.VisitReason, Specialist: body.Specialist,
		},
	}
	date := func(field string, sent nullable.Nullable[string]) *time.Time {
		moment, err := guidance.ReadMoment(field, valueOf(sent))
		wrong.note(err)
		if sent.IsNull() || !moment.IsZero() {
			return &moment
		}
		return nil
	}
	change.ExpirationDate = date("expiration_date", body.ExpirationDate)
	change.NotificationDate = date("notification_date", body.NotificationDate)
	return change, wrong.err()
}

// given is what a client wrote, nil for nothing and for an empty string.
func given(text *string) *string { return orNull(orEmpty(text)) }

// DeleteSurvey implements the contract.
func (h handlers) DeleteSurvey(ctx context.Context, request contract.DeleteSurveyRequestObject) (contract.DeleteSurveyResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	if err := h.Surveys.Delete(limited, actor(ctx), request.SurveyID); err != nil {
		return nil, kept("surveys", err)
	}
	return contract.DeleteSurvey204Response{}, nil
}

// GetMagicLink implements the contract.
func (h handlers) GetMagicLink(ctx context.Context, request contract.GetMagicLinkRequestObject) (contract.GetMagicLinkResponseObject, error) {
	by := actor(ctx)
	if by.UserID != "" {
		return nil, forbiddenToUsers("an end user makes no magic links")
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	found, err := h.Surveys.Survey(limited, by, request.SurveyID)
	if err != nil {
		return nil, kept("surveys", err)
	}
	patient, err := h.People.Patient(limited, by, found.PatientID)
	if err != nil {
		return nil, kept("patients", err)
	}
	code, err := h.People.CreateMagicCode(limited, identity.Session{UserID: patient.UserID, SurveyID: found.ID}, found.ExpirationDate)
	if err != nil {
		return nil, kept("users", err)
	}
	link := cmp.Or(h.PublicURL(), calledAt(ctx)) + "/survey/" + found.ID + "?" + url.Values{"magicCode": {code}}.Encode()
	return contract.GetMagicLink200JSONResponse{MagicLink: link}, nil
}

// calledAt is the address of the instance as the caller wrote it.
func calledAt(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(url.URL)
	return (&url.URL{Scheme: address.Scheme, Host: address.Host}).String()
}

func describeSurvey(s guidance.Survey) contract.Survey {
	described := contract.Survey{
		ID: s.ID, PatientID: s.PatientID, Type: contract.SurveyType(s.Type), Sections: s.Sections,
		Status: contract.SurveyStatus(s.Status), Language: s.Language,
		ExpirationDate: describeMoment(s.ExpirationDate), NotificationDate: describeMoment(s.NotificationDate),
		Evidence:  make([]contract.SurveyEvidence, len(s.Evidence)),
		VisitDate: orJSONNull(s.VisitDate), VisitReason: orJSONNull(s.VisitReason), Specialist: orJSONNull(s.Specialist),
	}
	for i, evidence := range s.Evidence {
		described.Evidence[i] = contract.SurveyEvidence{
			ID: evidence.ID, ChoiceID: contract.ChoiceID(evidence.ChoiceID), Source: orNull(evidence.Source),
		}
	}
	return described
}

// describeMoment is nil for none.
func describeMoment(moment time.Time) *string {
	if moment.IsZero() {
		return nil
	}
	text := moment.UTC().Format(time.RFC3339Nano)
	return &text
}

// orJSONNull is null for nothing.
func orJSONNull(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("null")
	}
	return value
}
