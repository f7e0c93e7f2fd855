// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"
	"slices"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/catalogue"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
	"github.com/anamnesis-dev/anamnesis/apiserver/search"
)

// Search implements enginev3.StrictServerInterface.
func (a *API) Search(ctx context.Context, request enginev3.SearchRequestObject) (enginev3.SearchResponseObject, error) {
	query, err := readQuery(&request.Params)
	if err != nil {
		return nil, err
	}
	hits := search.Find(releaseOf(ctx), query)
	list := make(enginev3.Search200JSONResponse, len(hits))
	for i, hit := range hits {
		list[i] = enginev3.SearchResult{ID: hit.ID, Label: hit.Label}
	}
	return list, nil
}

func readQuery(parameters *enginev3.SearchParams) (query search.Query, err error) {
	if query.Phrase = parameters.Phrase; strings.TrimSpace(query.Phrase) == "" {
		return query, badRequest("phrase: missing, expected %s", expectedOf("phrase"))
	}
	if query.AgeMonths, err = ageOfQuery(parameters.AgeValue, parameters.AgeUnit); err != nil {
		return query, err
	}
	if query.Sex, err = sexIfGiven(parameters.Sex); err != nil {
		return query, err
	}
	kinds, err := kindsOf(parameters.Types, catalogue.Symptom, catalogue.RiskFactor)
	if err != nil {
		return query, err
	}
	query.Symptoms = slices.Contains(kinds, catalogue.Symptom)
	query.RiskFactors = slices.Contains(kinds, catalogue.RiskFactor)
	query.Conditions = slices.Contains(kinds, catalogue.Condition)
	query.LabResults = slices.Contains(kinds, catalogue.LabTestResult)
	query.Most, err = mostResults(parameters.MaxResults)
	return query, err
}

// sexIfGiven is the sex that a call names, nil when it names none.
func sexIfGiven(word *enginev3.Sex) (*model.Sex, error) {
	if word == nil || *word == "" {
		return nil, nil
	}
	sex, err := model.ParseSex(string(*word))
	if err != nil {
		return nil, assessment.WrongWord("sex", string(*word), "female or male")
	}
	return &sex, nil
}
