// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// Suggest implements enginev3.StrictServerInterface.
func (a *API) Suggest(ctx context.Context, request enginev3.SuggestRequestObject) (enginev3.SuggestResponseObject, error) {
	body := request.Body
	method, ok := readSuggestMethod(body.SuggestMethod)
	if !ok {
		return nil, assessment.NotSupported("suggest_method", string(*body.SuggestMethod),
			"symptoms, risk_factors, demographic_risk_factors, evidence_based_risk_factors or red_flags")
	}
	interview := enginev3.Interview{Sex: body.Sex, Age: body.Age, Evidence: body.Evidence, Extras: body.Extras}
	names, err := a.suggest(ctx, &interview, method, request.Params.MaxResults)
	return enginev3.Suggest200JSONResponse(names), err
}

// RedFlags implements enginev3.StrictServerInterface.
func (a *API) RedFlags(ctx context.Context, request enginev3.RedFlagsRequestObject) (enginev3.RedFlagsResponseObject, error) {
	names, err := a.suggest(ctx, request.Body, inference.SuggestRedFlags, request.Params.MaxResults)
	return enginev3.RedFlags200JSONResponse(names), err
}

func (a *API) suggest(ctx context.Context, body *enginev3.Interview, method inference.SuggestMethod, maxResults *int) ([]enginev3.ObservationName, error) {
	limit, err := readMaxResults(maxResults)
	if err != nil {
		return nil, err
	}
	release := releaseFrom(ctx)
	interview, end, err := a.acquireInterview(ctx, body)
	if err != nil {
		return nil, err
	}
	defer end()
	return encodeObservationNames(release, a.engine.Suggest(release, interview.patient, interview.options, method, limit)), nil
}

var suggestMethods = map[enginev3.SuggestMethod]inference.SuggestMethod{
	"":                                inference.SuggestSymptoms,
	enginev3.SuggestMethodSymptoms:    inference.SuggestSymptoms,
	enginev3.SuggestMethodRiskFactors: inference.SuggestRiskFactors,
	enginev3.SuggestMethodRedFlags:    inference.SuggestRedFlags,
	enginev3.SuggestMethodDemographicRiskFactors:   inference.SuggestDemographicRiskFactors,
	enginev3.SuggestMethodEvidenceBasedRiskFactors: inference.SuggestEvidenceRiskFactors,
}

func readSuggestMethod(word *enginev3.SuggestMethod) (method inference.SuggestMethod, ok bool) {
	if word == nil {
		return inference.SuggestSymptoms, true
	}
	method, ok = suggestMethods[*word]
	return method, ok
}

// readMaxResults parses the max_results parameter.
func readMaxResults(parameter *int) (int, error) {
	const minValue, maxValue, defaultValue = 1, 100, 8
	switch {
	case parameter == nil:
		return defaultValue, nil
	case *parameter < minValue || *parameter > maxValue:
		return 0, badRequest("max_results: expected a whole number from %d to %d, got %d", minValue, maxValue, *parameter)
	}
	return *parameter, nil
}
