// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"maps"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/catalog"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// RecommendSpecialist implements enginev3.StrictServerInterface.
func (a *API) RecommendSpecialist(ctx context.Context, request enginev3.RecommendSpecialistRequestObject) (enginev3.RecommendSpecialistResponseObject, error) {
	release := releaseFrom(ctx)
	interview, end, err := a.acquireInterview(ctx, request.Body)
	if err != nil {
		return nil, err
	}
	defer end()
	mapping, err := readSpecialistMapping(release, request.Body.Extras)
	if err != nil {
		return nil, err
	}
	recommendation, ok := a.engine.Recommend(release, interview.patient, interview.options, mapping)
	if !ok {
		return enginev3.RecommendSpecialist200JSONResponse{}, nil
	}
	specialist := enginev3.Specialist(assessment.SpecialistName(release, recommendation.Specialist))
	channel := enginev3.Channel(recommendation.Channel.String())
	return enginev3.RecommendSpecialist200JSONResponse{RecommendedSpecialist: &specialist, RecommendedChannel: &channel}, nil
}

// readSpecialistMapping parses the specialist replacements, by index.
func readSpecialistMapping(r *model.Release, extras *enginev3.InterviewExtras) (map[uint32]uint32, error) {
	if extras == nil || extras.SpecialistMapping == nil {
		return nil, nil
	}
	const expected = "the id of a specialist, such as sp_1"
	mapping := make(map[uint32]uint32, len(*extras.SpecialistMapping))
	// Sorted, so that with several errors the same one is always reported.
	for _, from := range slices.Sorted(maps.Keys(*extras.SpecialistMapping)) {
		to := (*extras.SpecialistMapping)[from]
		fromIndex, ok := catalog.SpecialistByID(r, from)
		if !ok {
			return nil, assessment.NotSupported("extras.specialist_mapping", from, expected)
		}
		toIndex, ok := catalog.SpecialistByID(r, to)
		if !ok {
			return nil, assessment.NotSupported("extras.specialist_mapping."+from, to, expected)
		}
		mapping[r.Specialists[fromIndex].Number] = r.Specialists[toIndex].Number
	}
	return mapping, nil
}
