// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/anamnesis-dev/anamnesis/apiserver/http/middleware"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
	"github.com/anamnesis-dev/anamnesis/apiserver/record"
	"github.com/anamnesis-dev/anamnesis/apiserver/survey/fhir"
)

// assessmentResponse is a stored assessment, which already has the format of the contract.
type assessmentResponse record.Assessment

// VisitGetAssessmentResponse implements contract.GetAssessmentResponseObject.
func (a assessmentResponse) VisitGetAssessmentResponse(w http.ResponseWriter) error {
	writeJSON(w, http.StatusOK, record.Assessment(a))
	return nil
}

// GetAssessment implements contract.StrictServerInterface.
func (h handlers) GetAssessment(ctx context.Context, request contract.GetAssessmentRequestObject) (contract.GetAssessmentResponseObject, error) {
	var fieldErrs validationError
	details := fieldErrs.readBool("condition_details", request.Params.ConditionDetails)
	explanations := fieldErrs.readBool("explanations", request.Params.Explanations)
	if err := fieldErrs.errorOrNil(); err != nil {
		return nil, err
	}
	found, err := h.Surveys.Assessment(ctx, middleware.PrincipalFrom(ctx), request.SurveyID)
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	return assessmentResponse(found.Filtered(details, explanations)), nil
}

// readBool parses a Boolean parameter. Defaults to false.
func (e *validationError) readBool(field string, text *string) bool {
	if stringOrEmpty(text) == "" {
		return false
	}
	value, err := strconv.ParseBool(*text)
	if err != nil {
		*e = append(*e, contract.FieldError{Field: field, Message: "expected true or false"})
	}
	return value
}

// GetSummary implements contract.StrictServerInterface.
func (h handlers) GetSummary(ctx context.Context, request contract.GetSummaryRequestObject) (contract.GetSummaryResponseObject, error) {
	summary, err := h.Surveys.Summary(ctx, middleware.PrincipalFrom(ctx), request.SurveyID)
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	encoded, err := encodeSummary(summary)
	return contract.GetSummary200JSONResponse(encoded), err
}

func encodeSummary(summary record.Summary) (contract.SurveySummary, error) {
	encoded := contract.SurveySummary{Survey: encodeSurvey(summary.Survey), Questions: make([]contract.Exchange, len(summary.Questions))}
	for i, exchange := range summary.Questions {
		encodedAnswer, err := json.Marshal(exchange.Answer)
		if err != nil {
			return contract.SurveySummary{}, err
		}
		encoded.Questions[i] = contract.Exchange{
			ID: exchange.ID, Index: exchange.Index, Section: exchange.Section, Text: exchange.Text,
			AnswerType: contract.AnswerType(exchange.AnswerType), Answer: encodedAnswer,
		}
	}
	return encoded, nil
}

// bundleResponse is a FHIR bundle.
type bundleResponse fhir.Bundle

// VisitGetFhirResponse implements contract.GetFhirResponseObject.
func (b bundleResponse) VisitGetFhirResponse(w http.ResponseWriter) error {
	text, err := json.Marshal(fhir.Bundle(b))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/fhir+json")
	_, err = w.Write(text)
	return err
}

// GetFhir implements contract.StrictServerInterface.
func (h handlers) GetFhir(ctx context.Context, request contract.GetFhirRequestObject) (contract.GetFhirResponseObject, error) {
	summary, assessment, err := h.Surveys.Outcome(ctx, middleware.PrincipalFrom(ctx), request.SurveyID)
	if err != nil {
		return nil, wrapStorageError("surveys", err)
	}
	return bundleResponse(fhir.NewBundle(summary, assessment)), nil
}
