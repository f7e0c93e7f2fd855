// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"fmt"
	"net/http"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/catalog"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// Categories of symptoms and risk factors. Each type has only one.
const (
	symptomCategory    = "Symptoms"
	riskFactorCategory = "Risk factors"
)

// ListSymptoms implements enginev3.StrictServerInterface.
func (a *API) ListSymptoms(ctx context.Context, request enginev3.ListSymptomsRequestObject) (enginev3.ListSymptomsResponseObject, error) {
	months, err := readQueryAge(request.Params.AgeValue, request.Params.AgeUnit)
	if err != nil {
		return nil, err
	}
	release := releaseFrom(ctx)
	symptoms := catalog.Observations(release, model.Symptom, months)
	list := make(enginev3.ListSymptoms200JSONResponse, len(symptoms))
	for i, symptom := range symptoms {
		list[i] = encodeSymptom(release, symptom, months)
	}
	return list, nil
}

// GetSymptom implements enginev3.StrictServerInterface.
func (a *API) GetSymptom(ctx context.Context, request enginev3.GetSymptomRequestObject) (enginev3.GetSymptomResponseObject, error) {
	months, err := readQueryAge(request.Params.AgeValue, request.Params.AgeUnit)
	if err != nil {
		return nil, err
	}
	release := releaseFrom(ctx)
	symptom, ok := release.ObservationByID(request.ID)
	if !ok || release.Observations[symptom].Kind != model.Symptom {
		return nil, notFound("symptom", request.ID)
	}
	response := encodeSymptom(release, symptom, months)
	response.ID = request.ID // respond to an alias with the alias as ID
	return enginev3.GetSymptom200JSONResponse(response), nil
}

// ListRiskFactors implements enginev3.StrictServerInterface.
func (a *API) ListRiskFactors(ctx context.Context, request enginev3.ListRiskFactorsRequestObject) (enginev3.ListRiskFactorsResponseObject, error) {
	months, err := readQueryAge(request.Params.AgeValue, request.Params.AgeUnit)
	if err != nil {
		return nil, err
	}
	release := releaseFrom(ctx)
	factors := catalog.Observations(release, model.RiskFactor, months)
	list := make(enginev3.ListRiskFactors200JSONResponse, len(factors))
	for i, factor := range factors {
		list[i] = encodeRiskFactor(release, factor)
	}
	return list, nil
}

// GetRiskFactor implements enginev3.StrictServerInterface.
func (a *API) GetRiskFactor(ctx context.Context, request enginev3.GetRiskFactorRequestObject) (enginev3.GetRiskFactorResponseObject, error) {
	if _, err := readQueryAge(request.Params.AgeValue, request.Params.AgeUnit); err != nil {
		return nil, err
	}
	release := releaseFrom(ctx)
	factor, ok := release.ObservationByID(request.ID)
	if !ok || release.Observations[factor].Kind != model.RiskFactor {
		return nil, notFound("risk factor", request.ID)
	}
	response := encodeRiskFactor(release, factor)
	response.ID = request.ID // respond to an alias with the alias as ID
	return enginev3.GetRiskFactor200JSONResponse(response), nil
}

func notFound(kind, id string) error {
	return &requestError{http.StatusNotFound, fmt.Sprintf("%s %s not found", kind, assessment.Quote(id))}
}

func encodeSymptom(r *model.Release, i model.ObservationIndex, months int) enginev3.Symptom {
	o := &r.Observations[i]
	symptom := enginev3.Symptom{
		ID:                  r.ObservationID(i),
		Name:                r.Text(o.Name),
		CommonName:          r.Text(o.CommonName),
		Question:            assessment.OptionalText(r, o.Question),
		QuestionThirdPerson: assessment.OptionalText(r, o.QuestionThirdPerson),
		SexFilter:           enginev3.SexFilter(o.Sex.String()),
		Category:            symptomCategory,
		Seriousness:         encodeSeriousness(o.Seriousness),
		Children:            encodeChildren(r, i, months),
	}
	if o.Parent != model.None {
		parent, relation := r.ObservationID(o.Parent), enginev3.Relation(o.Relation.String())
		symptom.ParentID, symptom.ParentRelation = &parent, &relation
	}
	return symptom
}

func encodeChildren(r *model.Release, parent model.ObservationIndex, months int) []enginev3.Child {
	children := catalog.Children(r, parent, months)
	list := make([]enginev3.Child, len(children))
	for i, child := range children {
		list[i] = enginev3.Child{
			ID:             r.ObservationID(child),
			ParentRelation: enginev3.Relation(r.Observations[child].Relation.String()),
		}
	}
	return list
}

func encodeSeriousness(seriousness model.Seriousness) *enginev3.Seriousness {
	if seriousness == model.NotSerious {
		return nil
	}
	encoded := enginev3.Seriousness(seriousness.String())
	return &encoded
}

func encodeRiskFactor(r *model.Release, i model.ObservationIndex) enginev3.RiskFactor {
	o := &r.Observations[i]
	return enginev3.RiskFactor{
		ID:                  r.ObservationID(i),
		Name:                r.Text(o.Name),
		CommonName:          r.Text(o.CommonName),
		Question:            assessment.OptionalText(r, o.Question),
		QuestionThirdPerson: assessment.OptionalText(r, o.QuestionThirdPerson),
		SexFilter:           enginev3.SexFilter(o.Sex.String()),
		Category:            riskFactorCategory,
	}
}
