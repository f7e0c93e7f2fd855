// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"fmt"
	"net/http"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/catalogue"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// The single categories that symptoms and risk factors have.
const (
	symptomCategory    = "Symptoms"
	riskFactorCategory = "Risk factors"
)

// ListSymptoms implements enginev3.StrictServerInterface.
func (a *API) ListSymptoms(ctx context.Context, request enginev3.ListSymptomsRequestObject) (enginev3.ListSymptomsResponseObject, error) {
	months, err := ageOfQuery(request.Params.AgeValue, request.Params.AgeUnit)
	if err != nil {
		return nil, err
	}
	release := releaseOf(ctx)
	symptoms := catalogue.Observations(release, model.Symptom, months)
	list := make(enginev3.ListSymptoms200JSONResponse, len(symptoms))
	for i, symptom := range symptoms {
		list[i] = writeSymptom(release, symptom, months)
	}
	return list, nil
}

// GetSymptom implements enginev3.StrictServerInterface.
func (a *API) GetSymptom(ctx context.Context, request enginev3.GetSymptomRequestObject) (enginev3.GetSymptomResponseObject, error) {
	months, err := ageOfQuery(request.Params.AgeValue, request.Params.AgeUnit)
	if err != nil {
		return nil, err
	}
	release := releaseOf(ctx)
	symptom, ok := release.ObservationByID(request.ID)
	if !ok || release.Observations[symptom].Kind != model.Symptom {
		return nil, notFound("symptom", request.ID)
	}
	answer := writeSymptom(release, symptom, months)
	answer.ID = request.ID // an alias answers by itself
	return enginev3.GetSymptom200JSONResponse(answer), nil
}

// ListRiskFactors implements enginev3.StrictServerInterface.
func (a *API) ListRiskFactors(ctx context.Context, request enginev3.ListRiskFactorsRequestObject) (enginev3.ListRiskFactorsResponseObject, error) {
	months, err := ageOfQuery(request.Params.AgeValue, request.Params.AgeUnit)
	if err != nil {
		return nil, err
	}
	release := releaseOf(ctx)
	factors := catalogue.Observations(release, model.RiskFactor, months)
	list := make(enginev3.ListRiskFactors200JSONResponse, len(factors))
	for i, factor := range factors {
		list[i] = writeRiskFactor(release, factor)
	}
	return list, nil
}

// GetRiskFactor implements enginev3.StrictServerInterface.
func (a *API) GetRiskFactor(ctx context.Context, request enginev3.GetRiskFactorRequestObject) (enginev3.GetRiskFactorResponseObject, error) {
	if _, err := ageOfQuery(request.Params.AgeValue, request.Params.AgeUnit); err != nil {
		return nil, err
	}
	release := releaseOf(ctx)
	factor, ok := release.ObservationByID(request.ID)
	if !ok || release.Observations[factor].Kind != model.RiskFactor {
		return nil, notFound("risk factor", request.ID)
	}
	answer := writeRiskFactor(release, factor)
	answer.ID = request.ID // an alias answers by itself
	return enginev3.GetRiskFactor200JSONResponse(answer), nil
}

func notFound(what, id string) error {
	return &requestError{http.StatusNotFound, fmt.Sprintf("no %s has the id %s", what, assessment.Quote(id))}
}

func writeSymptom(r *model.Release, i model.ObservationIndex, months int) enginev3.Symptom {
	o := &r.Observations[i]
	symptom := enginev3.Symptom{
		ID:                  r.ObservationID(i),
		Name:                r.Text(o.Name),
		CommonName:          r.Text(o.CommonName),
		Question:            assessment.TextOrNil(r, o.Question),
		QuestionThirdPerson: assessment.TextOrNil(r, o.QuestionThirdPerson),
		SexFilter:           enginev3.SexFilter(o.Sex.String()),
		Category:            symptomCategory,
		Seriousness:         seriousnessOrNull(o.Seriousness),
		Children:            writeChildren(r, i, months),
	}
	if o.Parent != model.None {
		parent, relation := r.ObservationID(o.Parent), enginev3.Relation(o.Relation.String())
		symptom.ParentID, symptom.ParentRelation = &parent, &relation
	}
	return symptom
}

func writeChildren(r *model.Release, parent model.ObservationIndex, months int) []enginev3.Child {
	children := catalogue.Children(r, parent, months)
	list := make([]enginev3.Child, len(children))
	for i, child := range children {
		list[i] = enginev3.Child{
			ID:             r.ObservationID(child),
			ParentRelation: enginev3.Relation(r.Observations[child].Relation.String()),
		}
	}
	return list
}

func seriousnessOrNull(seriousness model.Seriousness) *enginev3.Seriousness {
	if seriousness == model.NotSerious {
		return nil
	}
	word := enginev3.Seriousness(seriousness.String())
	return &word
}

func writeRiskFactor(r *model.Release, i model.ObservationIndex) enginev3.RiskFactor {
	o := &r.Observations[i]
	return enginev3.RiskFactor{
		ID:                  r.ObservationID(i),
		Name:                r.Text(o.Name),
		CommonName:          r.Text(o.CommonName),
		Question:            assessment.TextOrNil(r, o.Question),
		QuestionThirdPerson: assessment.TextOrNil(r, o.QuestionThirdPerson),
		SexFilter:           enginev3.SexFilter(o.Sex.String()),
		Category:            riskFactorCategory,
	}
}
