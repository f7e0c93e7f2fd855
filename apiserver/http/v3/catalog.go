// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/catalog"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// apiVersion is the version of the API contract.
const apiVersion = "3.0.0"

// GetInfo implements enginev3.StrictServerInterface.
func (a *API) GetInfo(ctx context.Context, _ enginev3.GetInfoRequestObject) (enginev3.GetInfoResponseObject, error) {
	release := releaseFrom(ctx)
	return enginev3.GetInfo200JSONResponse{
		APIVersion:       apiVersion,
		UpdatedAt:        release.Meta.Version,
		ConditionsCount:  len(release.Conditions),
		SymptomsCount:    countObservations(release, model.Symptom),
		RiskFactorsCount: countObservations(release, model.RiskFactor),
		LabTestsCount:    len(release.LabTests),
	}, nil
}

func countObservations(r *model.Release, kind model.ObservationKind) int {
	from, to := r.ObservationsOfKind(kind)
	return int(to - from)
}

// ListConcepts implements enginev3.StrictServerInterface.
func (a *API) ListConcepts(ctx context.Context, request enginev3.ListConceptsRequestObject) (enginev3.ListConceptsResponseObject, error) {
	kinds, err := readKinds(request.Params.Types, catalog.Condition, catalog.Symptom, catalog.RiskFactor)
	if err != nil {
		return nil, err
	}
	concepts, err := catalog.Concepts(releaseFrom(ctx), splitList(request.Params.Ids), kinds)
	if err != nil {
		return nil, err
	}
	list := make(enginev3.ListConcepts200JSONResponse, len(concepts))
	for i, concept := range concepts {
		list[i] = encodeConcept(concept)
	}
	return list, nil
}

// splitList splits a comma-separated parameter and returns nil if it is unset.
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

// readKinds parses the types parameter. Defaults to otherwise.
func readKinds(parameter *string, defaultKinds ...catalog.Kind) ([]catalog.Kind, error) {
	words := splitList(parameter)
	if words == nil {
		return defaultKinds, nil
	}
	kinds := make([]catalog.Kind, len(words))
	for i, word := range words {
		kind, err := catalog.ParseKind(word)
		if err != nil {
			return nil, assessment.NotSupported("types", word, "condition, symptom, risk_factor or lab_test_result")
		}
		kinds[i] = kind
	}
	return kinds, nil
}

// GetConcept implements enginev3.StrictServerInterface.
func (a *API) GetConcept(ctx context.Context, request enginev3.GetConceptRequestObject) (enginev3.GetConceptResponseObject, error) {
	concept, err := catalog.ByID(releaseFrom(ctx), request.ID)
	if err != nil {
		return nil, err
	}
	return enginev3.GetConcept200JSONResponse(encodeConcept(concept)), nil
}

func encodeConcept(concept catalog.Concept) enginev3.Concept {
	return enginev3.Concept{
		ID: concept.ID, Type: enginev3.ConceptType(concept.Kind.String()),
		Name: concept.Name, CommonName: concept.CommonName,
	}
}

// readQueryAge parses the age parameters of a catalog call and returns months.
func readQueryAge(value int, unit *enginev3.AgeUnit) (int, error) {
	number := float64(value)
	return assessment.ParseAge("age", &number, stringOrEmpty(unit))
}
