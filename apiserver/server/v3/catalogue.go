// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/catalogue"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// apiVersion is the version of the contract.
const apiVersion = "3.0.0"

// GetInfo implements enginev3.StrictServerInterface.
func (a *API) GetInfo(ctx context.Context, _ enginev3.GetInfoRequestObject) (enginev3.GetInfoResponseObject, error) {
	release := releaseOf(ctx)
	return enginev3.GetInfo200JSONResponse{
		APIVersion:       apiVersion,
		UpdatedAt:        release.Meta.Version,
		ConditionsCount:  len(release.Conditions),
		SymptomsCount:    countOf(release, model.Symptom),
		RiskFactorsCount: countOf(release, model.RiskFactor),
		LabTestsCount:    len(release.LabTests),
	}, nil
}

func countOf(r *model.Release, kind model.ObservationKind) int {
	from, to := r.ObservationsOfKind(kind)
	return int(to - from)
}

// ListConcepts implements enginev3.StrictServerInterface.
func (a *API) ListConcepts(ctx context.Context, request enginev3.ListConceptsRequestObject) (enginev3.ListConceptsResponseObject, error) {
	kinds, err := kindsOf(request.Params.Types, catalogue.Condition, catalogue.Symptom, catalogue.RiskFactor)
	if err != nil {
		return nil, err
	}
	concepts, err := catalogue.Concepts(releaseOf(ctx), splitList(request.Params.Ids), kinds)
	if err != nil {
		return nil, err
	}
	list := make(enginev3.ListConcepts200JSONResponse, len(concepts))
	for i, concept := range concepts {
		list[i] = writeConcept(concept)
	}
	return list, nil
}

// splitList takes a comma-separated parameter apart; nil when it is not given.
func splitList(parameter *string) []string {
	if parameter == nil {
		return nil
	}
	var list []string
	for item := range strings.SplitSeq(*parameter, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// kindsOf reads the parameter types; otherwise is for when it is not given.
func kindsOf(parameter *string, otherwise ...catalogue.Kind) ([]catalogue.Kind, error) {
	words := splitList(parameter)
	if words == nil {
		return otherwise, nil
	}
	kinds := make([]catalogue.Kind, len(words))
	for i, word := range words {
		kind, err := catalogue.ParseKind(word)
		if err != nil {
			return nil, assessment.WrongWord("types", word, "condition, symptom, risk_factor or lab_test_result")
		}
		kinds[i] = kind
	}
	return kinds, nil
}

// GetConcept implements enginev3.StrictServerInterface.
func (a *API) GetConcept(ctx context.Context, request enginev3.GetConceptRequestObject) (enginev3.GetConceptResponseObject, error) {
	concept, err := catalogue.ByID(releaseOf(ctx), request.ID)
	if err != nil {
		return nil, err
	}
	return enginev3.GetConcept200JSONResponse(writeConcept(concept)), nil
}

func writeConcept(concept catalogue.Concept) enginev3.Concept {
	return enginev3.Concept{
		ID: concept.ID, Type: enginev3.ConceptType(concept.Kind.String()),
		Name: concept.Name, CommonName: concept.CommonName,
	}
}

// ageOfQuery reads the age of a catalogue call, in months.
func ageOfQuery(value int, unit *enginev3.AgeUnit) (int, error) {
	number := float64(value)
	return assessment.ReadAge("age", &number, wordOrNone(unit))
}
