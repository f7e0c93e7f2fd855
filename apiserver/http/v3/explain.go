// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// Explain implements enginev3.StrictServerInterface.
func (a *API) Explain(ctx context.Context, request enginev3.ExplainRequestObject) (enginev3.ExplainResponseObject, error) {
	release, body := releaseFrom(ctx), request.Body
	interview, end, err := a.acquireInterview(ctx, &enginev3.Interview{Sex: body.Sex, Age: body.Age, Evidence: body.Evidence, Extras: body.Extras})
	if err != nil {
		return nil, err
	}
	defer end()
	target, ok := release.ConditionByID(body.Target)
	if !ok {
		return nil, assessment.NotSupported("target", body.Target, "the id of a condition of the ranking, such as c_49")
	}
	if relevant := inference.RelevantEvidenceCount(release, interview.evidence, target); relevant > inference.MaxExplainedEvidence {
		return nil, badRequest("evidence: expected at most %d items that are present or relevant to %s, got %d",
			inference.MaxExplainedEvidence, body.Target, relevant)
	}
	explanation, ok := a.engine.Explain(release, interview.patient, interview.options, target)
	if !ok {
		return nil, badRequest("target: %s is not in the ranking that /diagnosis returns for this evidence", body.Target)
	}
	return enginev3.Explain200JSONResponse{
		SupportingEvidence:  encodeObservationNames(release, explanation.Supporting),
		ConflictingEvidence: encodeObservationNames(release, explanation.Conflicting),
		UnconfirmedEvidence: encodeObservationNames(release, explanation.Unconfirmed),
	}, nil
}

// Rationale implements enginev3.StrictServerInterface.
func (a *API) Rationale(ctx context.Context, request enginev3.RationaleRequestObject) (enginev3.RationaleResponseObject, error) {
	release := releaseFrom(ctx)
	interview, end, err := a.acquireInterview(ctx, request.Body)
	if err != nil {
		return nil, err
	}
	defer end()
	rationale, ok := a.engine.Rationale(release, interview.patient, interview.options)
	if !ok {
		return nil, badRequest("evidence: /diagnosis asks no question for this evidence, so there is nothing to explain")
	}
	return enginev3.Rationale200JSONResponse{
		Type:              enginev3.RationaleType(rationale.Type.String()),
		ObservationParams: encodeObservationNames(release, rationale.Observations),
		ConditionParams:   encodeConditionNames(release, rationale.Conditions),
	}, nil
}
