// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// Triage implements enginev3.StrictServerInterface.
func (a *API) Triage(ctx context.Context, request enginev3.TriageRequestObject) (enginev3.TriageResponseObject, error) {
	release := releaseOf(ctx)
	asked, end, err := a.begin(ctx, request.Body)
	if err != nil {
		return nil, err
	}
	defer end()
	triage := a.engine.Triage(release, asked.patient, asked.options)
	return enginev3.Triage200JSONResponse(writeTriage(release, &triage, asked.options.ThreeLevels)), nil
}

func writeTriage(r *model.Release, triage *engine.Triage, threeLevels bool) enginev3.Triage {
	answer := enginev3.Triage{
		TriageLevel: enginev3.TriageLevel(triage.Level.String()),
		RootCause:   enginev3.RootCause(triage.RootCause.String()),
		Serious:     make([]enginev3.SeriousObservation, len(triage.Serious)),
	}
	if !threeLevels {
		answer.TeleconsultationApplicable = &triage.TeleconsultationApplicable
	}
	for i, serious := range triage.Serious {
		observation := &r.Observations[serious.Observation]
		answer.Serious[i] = enginev3.SeriousObservation{
			ID:          r.ObservationID(serious.Observation),
			Name:        r.Text(observation.Name),
			CommonName:  r.Text(observation.CommonName),
			Seriousness: enginev3.Seriousness(serious.Seriousness.String()),
			IsEmergency: serious.Seriousness >= model.SeriousnessEmergency, //nolint:staticcheck // deprecated for clients, which get it still
		}
	}
	return answer
}
