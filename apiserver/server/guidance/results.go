// SPDX-License-Identifier: Apache-2.0

package guidance

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/anamnesis-dev/anamnesis/apiserver/fhir"
	"github.com/anamnesis-dev/anamnesis/apiserver/guidance"
	contract "github.com/anamnesis-dev/anamnesis/apiserver/openapi/guidance"
)

// assessed answers with what was stored when the survey was completed, which has the
// form of the contract.
type assessed guidance.Assessment

// VisitGetAssessmentResponse implements the contract.
func (a assessed) VisitGetAssessmentResponse(w http.ResponseWriter) error {
	writeJSON(w, http.StatusOK, guidance.Assessment(a))
	return nil
}

// GetAssessment implements the contract.
func (h handlers) GetAssessment(ctx context.Context, request contract.GetAssessmentRequestObject) (contract.GetAssessmentResponseObject, error) {
	var wrong refusal
	details := wrong.truth("condition_details", request.Params.ConditionDetails)
	explanations := wrong.truth("explanations", request.Params.Explanations)
	if err := wrong.err(); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	found, err := h.Surveys.Assessment(limited, actor(ctx), request.SurveyID)
	if err != nil {
		return nil, kept("surveys", err)
	}
	return assessed(found.Shown(details, explanations)), nil
}

// truth reads a parameter that is true or false; left out it is false.
func (r *refusal) truth(field string, text *string) bool {
	if orEmpty(text) == "" {
		return false
	}
	value, err := strconv.ParseBool(*text)
	if err != nil {
		*r = append(*r, contract.FieldError{Field: field, Message: "expected true or false"})
	}
	return value
}

// GetSummary implements the contract.
func (h handlers) GetSummary(ctx context.Context, request contract.GetSummaryRequestObject) (contract.GetSummaryResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	summary, err := h.Surveys.Summary(limited, actor(ctx), request.SurveyID)
	if err != nil {
		return nil, kept("surveys", err)
	}
	described, err := describeSummary(summary)
	return contract.GetSummary200JSONResponse(described), err
}

func describeSummary(summary guidance.Summary) (contract.SurveySummary, error) {
	described := contract.SurveySummary{Survey: describeSurvey(summary.Survey), Questions: make([]contract.Exchange, len(summary.Questions))}
	for i, exchange := range summary.Questions {
		answer, err := json.Marshal(exchange.Answer)
		if err != nil {
			return contract.SurveySummary{}, err
		}
		described.Questions[i] = contract.Exchange{
			ID: exchange.ID, Index: exchange.Index, Section: exchange.Section, Text: exchange.Text,
			AnswerType: contract.AnswerType(exchange.AnswerType), Answer: answer,
		}
	}
	return described, nil
}

// bundled answers in FHIR.
type bundled fhir.Bundle

// VisitGetFhirResponse implements the contract.
func (b bundled) VisitGetFhirResponse(w http.ResponseWriter) error {
	text, err := json.Marshal(fhir.Bundle(b))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/fhir+json")
	_, err = w.Write(text)
	return err
}

// GetFhir implements the contract.
func (h handlers) GetFhir(ctx context.Context, request contract.GetFhirRequestObject) (contract.GetFhirResponseObject, error) {
	limited, cancel := context.WithTimeout(ctx, storagePatience)
	defer cancel()
	summary, assessment, err := h.Surveys.Outcome(limited, actor(ctx), request.SurveyID)
	if err != nil {
		return nil, kept("surveys", err)
	}
	return bundled(fhir.Of(summary, assessment)), nil
}
