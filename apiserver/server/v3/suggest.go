// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// Suggest implements enginev3.StrictServerInterface.
func (a *API) Suggest(ctx context.Context, request enginev3.SuggestRequestObject) (enginev3.SuggestResponseObject, error) {
	body := request.Body
	method, ok := methodOf(body.SuggestMethod)
	if !ok {
		return nil, assessment.WrongWord("suggest_method", string(*body.SuggestMethod),
			"symptoms, risk_factors, demographic_risk_factors, evidence_based_risk_factors or red_flags")
	}
	interview := enginev3.Interview{Sex: body.Sex, Age: body.Age, Evidence: body.Evidence, Extras: body.Extras}
	names, err := a.suggest(ctx, &interview, method, request.Params.MaxResults)
	return enginev3.Suggest200JSONResponse(names), err
}

// RedFlags implements enginev3.StrictServerInterface.
func (a *API) RedFlags(ctx context.Context, request enginev3.RedFlagsRequestObject) (enginev3.RedFlagsResponseObject, error) {
	names, err := a.suggest(ctx, request.Body, engine.SuggestRedFlags, request.Params.MaxResults)
	return enginev3.RedFlags200JSONResponse(names), err
}

func (a *API) suggest(ctx context.Context, body *enginev3.Interview, method engine.SuggestMethod, maxResults *int) ([]enginev3.ObservationName, error) {
	most, err := mostResults(maxResults)
	if err != nil {
		return nil, err
	}
	release := releaseOf(ctx)
	asked, end, err := a.begin(ctx, body)
	if err != nil {
		return nil, err
	}
	defer end()
	return observationNames(release, a.engine.Suggest(release, asked.patient, asked.options, method, most)), nil
}

var suggestMethods = map[enginev3.SuggestMethod]engine.SuggestMethod{
	"":                                engine.SuggestSymptoms,
	enginev3.SuggestMethodSymptoms:    engine.SuggestSymptoms,
	enginev3.SuggestMethodRiskFactors: engine.SuggestRiskFactors,
	enginev3.SuggestMethodRedFlags:    engine.SuggestRedFlags,
	enginev3.SuggestMethodDemographicRiskFactors:   engine.SuggestDemographicRiskFactors,
	enginev3.SuggestMethodEvidenceBasedRiskFactors: engine.SuggestEvidenceRiskFactors,
}

func methodOf(word *enginev3.SuggestMethod) (method engine.SuggestMethod, ok bool) {
	if word == nil {
		return engine.SuggestSymptoms, true
	}
	method, ok = suggestMethods[*word]
	return method, ok
}

// mostResults is how many entries an answer may have, of the parameter
// max_results.
func mostResults(parameter *int) (int, error) {
	const lowest, highest, otherwise = 1, 100, 8
	switch {
	case parameter == nil:
		return otherwise, nil
	case *parameter < lowest || *parameter > highest:
		return 0, badRequest("max_results: expected a whole number from %d to %d, got %d", lowest, highest, *parameter)
	}
	return *parameter, nil
}
