// SPDX-License-Identifier: Apache-2.0

package assessment

import (
	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// Details are what a ranked condition has to show beside its names.
type Details struct {
	// ICD10 and Hint are nil where the release has none.
	ICD10, Hint *string
	// Category is the first of those that it is in; nil for none.
	Category                                     *Category
	Prevalence, Severity, Acuteness, TriageLevel string
	HasPatientEducation                          bool
}

// A Category is what conditions have in common.
type Category struct{ ID, Name string }

// DescribeDetails describes a condition.
func DescribeDetails(r *model.Release, i model.ConditionIndex, threeLevels bool) Details {
	c := &r.Conditions[i]
	details := Details{
		ICD10:               TextOrNil(r, c.ICD10),
		Hint:                TextOrNil(r, c.Hint),
		Prevalence:          c.Prevalence.String(),
		Severity:            c.Severity.String(),
		Acuteness:           c.Acuteness.String(),
		TriageLevel:         DescribeLevel(c.Triage, threeLevels),
		HasPatientEducation: c.Article != model.None,
	}
	if categories := model.Part(r.CategoryRefs, c.Categories); len(categories) > 0 {
		first := categories[0]
		details.Category = &Category{r.CategoryID(first), r.Text(r.Categories[first].Name)}
	}
	return details
}

// DescribeLevel words a triage level, of the five or of the three that some
// clients know.
func DescribeLevel(level model.TriageLevel, threeLevels bool) string {
	if threeLevels {
		level = engine.InThreeLevels(level)
	}
	return level.String()
}

// TextOrNil is nil for a text that the release does not have.
func TextOrNil(r *model.Release, ref model.StringRef) *string {
	if ref.Length == 0 {
		return nil
	}
	text := r.Text(ref)
	return &text
}
