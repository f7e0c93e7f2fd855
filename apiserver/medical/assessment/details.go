// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// ConditionDetails holds the attributes of a ranked condition that clients display in
// addition to its names.
type ConditionDetails struct {
	// ICD10 and Hint are nil if the release does not define them.
	ICD10, Hint *string
	// Category is the first category of the condition, or nil if it has no category.
	Category                                     *Category
	Prevalence, Severity, Acuteness, TriageLevel string
	HasPatientEducation                          bool
}

// A Category groups related conditions.
type Category struct{ ID, Name string }

// DescribeCondition returns the details of the condition at index i. threeLevels
// selects the three-level triage scale.
func DescribeCondition(r *model.Release, i model.ConditionIndex, threeLevels bool) ConditionDetails {
	c := &r.Conditions[i]
	details := ConditionDetails{
		ICD10:               OptionalText(r, c.ICD10),
		Hint:                OptionalText(r, c.Hint),
		Prevalence:          c.Prevalence.String(),
		Severity:            c.Severity.String(),
		Acuteness:           c.Acuteness.String(),
		TriageLevel:         DescribeTriageLevel(c.Triage, threeLevels),
		HasPatientEducation: c.Article != model.None,
	}
	if categories := model.Slice(r.CategoryRefs, c.Categories); len(categories) > 0 {
		first := categories[0]
		details.Category = &Category{r.CategoryID(first), r.Text(r.Categories[first].Name)}
	}
	return details
}

// DescribeTriageLevel returns the API name of a triage level, on the five-level or the
// three-level scale.
func DescribeTriageLevel(level model.TriageLevel, threeLevels bool) string {
	if threeLevels {
		level = inference.FoldToThreeLevels(level)
	}
	return level.String()
}

// OptionalText returns the text to which ref refers, or nil if ref is empty.
func OptionalText(r *model.Release, ref model.StringRef) *string {
	if ref.Length == 0 {
		return nil
	}
	text := r.Text(ref)
	return &text
}
