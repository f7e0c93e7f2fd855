// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"context"

	"github.com/anamnesis-dev/anamnesis/apiserver/catalogue"
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/apiserver/openapi/enginev3"
)

// ListConditions implements enginev3.StrictServerInterface.
func (a *API) ListConditions(ctx context.Context, request enginev3.ListConditionsRequestObject) (enginev3.ListConditionsResponseObject, error) {
	months, err := ageOfQuery(request.Params.AgeValue, request.Params.AgeUnit)
	if err != nil {
		return nil, err
	}
	release := releaseOf(ctx)
	conditions := catalogue.Conditions(release, months)
	list := make(enginev3.ListConditions200JSONResponse, len(conditions))
	for i, condition := range conditions {
		list[i] = writeCondition(release, condition, isTrue(request.Params.EnableTriage3))
		if isTrue(request.Params.IncludeSpecialists) {
			list[i].Specialists = writeSpecialists(release, condition)
		}
	}
	return list, nil
}

// GetCondition implements enginev3.StrictServerInterface.
func (a *API) GetCondition(ctx context.Context, request enginev3.GetConditionRequestObject) (enginev3.GetConditionResponseObject, error) {
	if _, err := ageOfQuery(request.Params.AgeValue, request.Params.AgeUnit); err != nil {
		return nil, err
	}
	release := releaseOf(ctx)
	condition, ok := release.ConditionByID(request.ID)
	if !ok {
		return nil, notFound("condition", request.ID)
	}
	return enginev3.GetCondition200JSONResponse(
		writeCondition(release, condition, isTrue(request.Params.EnableTriage3))), nil
}

func writeCondition(r *model.Release, i model.ConditionIndex, threeLevels bool) enginev3.Condition {
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
			Hint:      textOrNull(r, c.Hint),
			Icd10Code: textOrNull(r, c.ICD10),
		},
		TriageLevel:        writeLevel(c.Triage, threeLevels),
		RecommendedChannel: enginev3.Channel(c.Channel.String()),
	}
}

func writeLevel(level model.TriageLevel, threeLevels bool) enginev3.TriageLevel {
	if threeLevels {
		level = engine.InThreeLevels(level)
	}
	return enginev3.TriageLevel(level.String())
}

// writeDetails writes what a ranked condition has to show beside its names.
func writeDetails(r *model.Release, i model.ConditionIndex, threeLevels bool) *enginev3.ConditionDetails {
	c := &r.Conditions[i]
	details := &enginev3.ConditionDetails{
		Icd10Code:           textOrNull(r, c.ICD10),
		Prevalence:          enginev3.Prevalence(c.Prevalence.String()),
		Severity:            enginev3.Severity(c.Severity.String()),
		Acuteness:           enginev3.Acuteness(c.Acuteness.String()),
		TriageLevel:         writeLevel(c.Triage, threeLevels),
		Hint:                textOrNull(r, c.Hint),
		HasPatientEducation: c.Article != model.None,
	}
	if categories := model.Part(r.CategoryRefs, c.Categories); len(categories) > 0 {
		first := categories[0]
		details.Category = &enginev3.Category{ID: r.CategoryID(first), Name: r.Text(r.Categories[first].Name)}
	}
	return details
}

func categoryNames(r *model.Release, c *model.Condition) []string {
	names := make([]string, 0, c.Categories.Len())
	for _, category := range model.Part(r.CategoryRefs, c.Categories) {
		names = append(names, r.Text(r.Categories[category].Name))
	}
	return names
}

func writeSpecialists(r *model.Release, i model.ConditionIndex) *[]enginev3.Specialist {
	refs := model.Part(r.SpecialistRefs, r.Conditions[i].Specialists)
	list := make([]enginev3.Specialist, len(refs))
	for i, specialist := range refs {
		list[i] = writeSpecialist(r, specialist)
	}
	return &list
}

func writeSpecialist(r *model.Release, i uint32) enginev3.Specialist {
	return enginev3.Specialist{ID: r.SpecialistID(i), Name: r.Text(r.Specialists[i].Name)}
}

// textOrNull is nil for a text that the release does not have.
func textOrNull(r *model.Release, ref model.StringRef) *string {
	if ref.Length == 0 {
		return nil
	}
	text := r.Text(ref)
	return &text
}
