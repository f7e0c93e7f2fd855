// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"maps"
	"slices"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/catalogue"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// RecommendSpecialist implements enginev3.StrictServerInterface.
func (a *API) RecommendSpecialist(ctx context.Context, request enginev3.RecommendSpecialistRequestObject) (enginev3.RecommendSpecialistResponseObject, error) {
	release := releaseOf(ctx)
	asked, end, err := a.begin(ctx, request.Body)
	if err != nil {
		return nil, err
	}
	defer end()
	mapping, err := readMapping(release, request.Body.Extras)
	if err != nil {
		return nil, err
	}
	recommendation, ok := a.engine.Recommend(release, asked.patient, asked.options, mapping)
	if !ok {
		return enginev3.RecommendSpecialist200JSONResponse{}, nil
	}
	specialist := enginev3.Specialist(assessment.SpecialistName(release, recommendation.Specialist))
	channel := enginev3.Channel(recommendation.Channel.String())
	return enginev3.RecommendSpecialist200JSONResponse{RecommendedSpecialist: &specialist, RecommendedChannel: &channel}, nil
}

// readMapping reads which specialist, by number, takes the place of which.
func readMapping(r *model.Release, extras *enginev3.InterviewExtras) (map[uint32]uint32, error) {
	if extras == nil || extras.SpecialistMapping == nil {
		return nil, nil
	}
	const expected = "the id of a specialist, such as sp_1"
	mapping := make(map[uint32]uint32, len(*extras.SpecialistMapping))
	// In order, so that of several errors the same one is told every time.
	for _, from := range slices.Sorted(maps.Keys(*extras.SpecialistMapping)) {
		to := (*extras.SpecialistMapping)[from]
		replaced, ok := catalogue.SpecialistByID(r, from)
		if !ok {
			return nil, assessment.WrongWord("extras.specialist_mapping", from, expected)
		}
		replacing, ok := catalogue.SpecialistByID(r, to)
		if !ok {
			return nil, assessment.WrongWord("extras.specialist_mapping."+from, to, expected)
		}
		mapping[r.Specialists[replaced].Number] = r.Specialists[replacing].Number
	}
	return mapping, nil
}
