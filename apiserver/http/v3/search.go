// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/catalog"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/search"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// Search implements enginev3.StrictServerInterface.
func (a *API) Search(ctx context.Context, request enginev3.SearchRequestObject) (enginev3.SearchResponseObject, error) {
	query, err := readSearchQuery(&request.Params)
	if err != nil {
		return nil, err
	}
	hits := search.Find(releaseFrom(ctx), query)
	list := make(enginev3.Search200JSONResponse, len(hits))
	for i, hit := range hits {
		list[i] = enginev3.SearchResult{ID: hit.ID, Label: hit.Label}
	}
	return list, nil
}

func readSearchQuery(parameters *enginev3.SearchParams) (query search.Query, err error) {
	if query.Phrase = parameters.Phrase; strings.TrimSpace(query.Phrase) == "" {
		return query, badRequest("phrase: missing, expected %s", expectedValue("phrase"))
	}
	if query.AgeMonths, err = readQueryAge(parameters.AgeValue, parameters.AgeUnit); err != nil {
		return query, err
	}
	if query.Sex, err = readOptionalSex(parameters.Sex); err != nil {
		return query, err
	}
	kinds, err := readKinds(parameters.Types, catalog.Symptom, catalog.RiskFactor)
	if err != nil {
		return query, err
	}
	query.Symptoms = slices.Contains(kinds, catalog.Symptom)
	query.RiskFactors = slices.Contains(kinds, catalog.RiskFactor)
	query.Conditions = slices.Contains(kinds, catalog.Condition)
	query.LabResults = slices.Contains(kinds, catalog.LabTestResult)
	query.Limit, err = readMaxResults(parameters.MaxResults)
	return query, err
}

// readOptionalSex parses the sex parameter and returns nil if it is unset.
func readOptionalSex(text *enginev3.Sex) (*model.Sex, error) {
	if text == nil || *text == "" {
		return nil, nil
	}
	sex, err := model.ParseSex(string(*text))
	if err != nil {
		return nil, assessment.NotSupported("sex", string(*text), "female or male")
	}
	return &sex, nil
}
