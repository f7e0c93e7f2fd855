// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/assessment"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/catalog"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// ListConditions implements enginev3.StrictServerInterface.
func (a *API) ListConditions(ctx context.Context, request enginev3.ListConditionsRequestObject) (enginev3.ListConditionsResponseObject, error) {
	months, err := readQueryAge(request.Params.AgeValue, request.Params.AgeUnit)
	if err != nil {
		return nil, err
	}
	release := releaseFrom(ctx)
	conditions := catalog.Conditions(release, months)
	list := make(enginev3.ListConditions200JSONResponse, len(conditions))
	for i, condition := range conditions {
		list[i] = encodeCondition(release, condition, isTrue(request.Params.EnableTriage3))
		if isTrue(request.Params.IncludeSpecialists) {
			list[i].Specialists = encodeSpecialists(release, condition)
		}
	}
	return list, nil
}

// GetCondition implements enginev3.StrictServerInterface.
func (a *API) GetCondition(ctx context.Context, request enginev3.GetConditionRequestObject) (enginev3.GetConditionResponseObject, error) {
	if _, err := readQueryAge(request.Params.AgeValue, request.Params.AgeUnit); err != nil {
		return nil, err
	}
	release := releaseFrom(ctx)
	condition, ok := release.ConditionByID(request.ID)
	if !ok {
		return nil, notFound("condition", request.ID)
	}
	return enginev3.GetCondition200JSONResponse(
		encodeCondition(release, condition, isTrue(request.Params.EnableTriage3))), nil
}

func encodeCondition(r *model.Release, i model.ConditionIndex, threeLevels bool) enginev3.Condition {
	c := &r.Conditions[i]
	return enginev3.Condition{
		ID:         r.ConditionID(i),
		Name:       r.Text(c.Name),
		CommonName: r.Text(c.CommonName),
		SexFilter:  enginev3.SexFilter(c.Sex.String()),
		Categories: categoryNames(r, c),
		Prevalence: enginev3.Prevalence(c.Prevalence.String()),
		Acuteness:  enginev3.Acuteness(c.Acuteness.String()),
		Severity:   enginev3.Severity(c.Severity.String()),
		Extras: enginev3.ConditionExtras{
			Hint:      assessment.OptionalText(r, c.Hint),
			Icd10Code: assessment.OptionalText(r, c.ICD10),
		},
		TriageLevel:        enginev3.TriageLevel(assessment.DescribeTriageLevel(c.Triage, threeLevels)),
		RecommendedChannel: enginev3.Channel(c.Channel.String()),
	}
}

// encodeDetails encodes the details of a ranked condition.
func encodeDetails(r *model.Release, i model.ConditionIndex, threeLevels bool) *enginev3.ConditionDetails {
	details := assessment.DescribeCondition(r, i, threeLevels)
	return &enginev3.ConditionDetails{
		Icd10Code:           details.ICD10,
		Category:            (*enginev3.Category)(details.Category),
		Prevalence:          enginev3.Prevalence(details.Prevalence),
		Severity:            enginev3.Severity(details.Severity),
		Acuteness:           enginev3.Acuteness(details.Acuteness),
		TriageLevel:         enginev3.TriageLevel(details.TriageLevel),
		Hint:                details.Hint,
		HasPatientEducation: details.HasPatientEducation,
	}
}

func categoryNames(r *model.Release, c *model.Condition) []string {
	names := make([]string, 0, c.Categories.Len())
	for _, category := range model.Slice(r.CategoryRefs, c.Categories) {
		names = append(names, r.Text(r.Categories[category].Name))
	}
	return names
}

func encodeSpecialists(r *model.Release, i model.ConditionIndex) *[]enginev3.Specialist {
	refs := model.Slice(r.SpecialistRefs, r.Conditions[i].Specialists)
	list := make([]enginev3.Specialist, len(refs))
	for i, specialist := range refs {
		list[i] = enginev3.Specialist(assessment.SpecialistName(r, specialist))
	}
	return &list
}
