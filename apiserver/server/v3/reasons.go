// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// Explain implements enginev3.StrictServerInterface.
func (a *API) Explain(ctx context.Context, request enginev3.ExplainRequestObject) (enginev3.ExplainResponseObject, error) {
	release, body := releaseOf(ctx), request.Body
	asked, end, err := a.begin(ctx, &enginev3.Interview{Sex: body.Sex, Age: body.Age, Evidence: body.Evidence, Extras: body.Extras})
	if err != nil {
		return nil, err
	}
	defer end()
	target, ok := release.ConditionByID(body.Target)
	if !ok {
		return nil, assessment.WrongWord("target", body.Target, "the id of a condition of the ranking, such as c_49")
	}
	if bearing := engine.Bearing(release, asked.evidence, target); bearing > engine.MostExplained {
		return nil, badRequest("evidence: expected at most %d pieces that are present or have to do with %s, got %d",
			engine.MostExplained, body.Target, bearing)
	}
	explanation, ok := a.engine.Explain(release, asked.patient, asked.options, target)
	if !ok {
		return nil, badRequest("target: %s is not in the ranking that /diagnosis gives for this evidence", body.Target)
	}
	return enginev3.Explain200JSONResponse{
		SupportingEvidence:  observationNames(release, explanation.Supporting),
		ConflictingEvidence: observationNames(release, explanation.Conflicting),
		UnconfirmedEvidence: observationNames(release, explanation.Unconfirmed),
	}, nil
}

// Rationale implements enginev3.StrictServerInterface.
func (a *API) Rationale(ctx context.Context, request enginev3.RationaleRequestObject) (enginev3.RationaleResponseObject, error) {
	release := releaseOf(ctx)
	asked, end, err := a.begin(ctx, request.Body)
	if err != nil {
		return nil, err
	}
	defer end()
	rationale, ok := a.engine.Rationale(release, asked.patient, asked.options)
	if !ok {
		return nil, badRequest("evidence: /diagnosis asks no question about it that could be explained")
	}
	return enginev3.Rationale200JSONResponse{
		Type:              enginev3.RationaleType(rationale.Type.String()),
		ObservationParams: observationNames(release, rationale.Observations),
		ConditionParams:   conditionNames(release, rationale.Conditions),
	}, nil
}
