// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// Triage implements enginev3.StrictServerInterface.
func (a *API) Triage(ctx context.Context, request enginev3.TriageRequestObject) (enginev3.TriageResponseObject, error) {
	release := releaseFrom(ctx)
	interview, end, err := a.acquireInterview(ctx, request.Body)
	if err != nil {
		return nil, err
	}
	defer end()
	triage := a.engine.Triage(release, interview.patient, interview.options)
	return enginev3.Triage200JSONResponse(encodeTriage(release, &triage, interview.options.ThreeLevels)), nil
}

func encodeTriage(r *model.Release, triage *inference.Triage, threeLevels bool) enginev3.Triage {
	described := assessment.DescribeTriage(r, triage)
	encoded := enginev3.Triage{
		TriageLevel: enginev3.TriageLevel(described.Level),
		RootCause:   enginev3.RootCause(described.RootCause),
		Serious:     make([]enginev3.SeriousObservation, len(described.Serious)),
	}
	if !threeLevels {
		encoded.TeleconsultationApplicable = &triage.TeleconsultationApplicable
	}
	for i, serious := range described.Serious {
		encoded.Serious[i] = enginev3.SeriousObservation{
			ID:          serious.ID,
			Name:        serious.Name.Name,
			CommonName:  serious.CommonName,
			Seriousness: enginev3.Seriousness(serious.Seriousness),
			IsEmergency: serious.IsEmergency, //nolint:staticcheck // deprecated for clients, which get it still
		}
	}
	return encoded
}
