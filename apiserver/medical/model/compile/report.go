// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// A Report lists the parts of the content that are thin. Its entries are not errors,
// but worth reviewing. Concepts are listed by slug.
type Report struct {
	Model        string `json:"model"`
	Version      string `json:"version"`
	Conditions   int    `json:"conditions"`
	Symptoms     int    `json:"symptoms"`
	RiskFactors  int    `json:"risk_factors"`
	LabResults   int    `json:"lab_results"`
	LabTests     int    `json:"lab_tests"`
	Drugs        int    `json:"drugs"`
	Articles     int    `json:"articles"`
	Links        int    `json:"links"`
	Patterns     int    `json:"patterns"`
	ReleaseBytes int    `json:"release_bytes"`
	// Untranslated is the number of concepts, groups and articles that an experimental
	// language takes unchanged from its base.
	Untranslated int `json:"untranslated"`
	// FewFindings are the conditions with fewer than minFindings findings.
	FewFindings []string `json:"few_findings"`
	// SingleConditionFindings are the symptoms and laboratory results linked to only one
	// condition. UnusedObservations are the observations that are not a finding or a
	// factor of any condition, or part of a tuple.
	SingleConditionFindings []string `json:"one_condition"`
	UnusedObservations      []string `json:"no_condition"`
	// DefaultCourse lists the conditions without a course in the sources, which get the
	// default course for their acuteness.
	DefaultCourse []string `json:"usual_course"`
	// MissingArticles are the common conditions without an article.
	MissingArticles []string `json:"no_article"`
	// MissingWordings are the symptoms and risk factors without lexicon wordings.
	MissingWordings []string `json:"no_wordings"`
	// MissingExamples are the symptoms and risk factors without examples, in a language that
	// has examples.
	MissingExamples []string `json:"no_examples"`
	// AmbiguousWordings are the pairs of wordings of two observations that can match the
	// same text.
	AmbiguousWordings []string `json:"shared_wordings"`
	// Indistinguishable are the pairs of conditions that patients' answers do not
	// distinguish. SimilarPairs are the declared pairs, with their reasons.
	Indistinguishable []string `json:"unseparated"`
	SimilarPairs      []string `json:"alike"`
}

// minFindings is the minimum number of findings that distinguishes a condition from
// others reliably.
const minFindings = 6

// report returns the report on a compiled release.
func (c *compiler) report(r *model.Release) Report {
	report := Report{
		Model:           r.Meta.ModelID,
		Version:         r.Meta.Version,
		Conditions:      len(r.Conditions),
		LabTests:        len(r.LabTests),
		Drugs:           len(r.Drugs),
		Articles:        len(r.Articles),
		Links:           len(r.LinksByCondition),
		Patterns:        len(c.draft.Lexicon.Patterns),
		MissingWordings: c.observationsWithoutWordings(), MissingExamples: c.observationsWithoutExamples(), AmbiguousWordings: c.ambiguousWordings, Indistinguishable: c.indistinguishable,
	}
	if c.language.Experimental.Value {
		report.Untranslated = c.language.InheritedCount
	}
	for i, o := range r.Observations {
		switch o.Kind {
		case model.Symptom:
			report.Symptoms++
		case model.RiskFactor:
			report.RiskFactors++
		case model.LabResult:
			report.LabResults++
		}
		slug := c.observationsByDraft[c.draft.Observations[i]].source.Slug.Text
		switch {
		case o.Links.Len() == 1 && o.Kind != model.RiskFactor:
			report.SingleConditionFindings = append(report.SingleConditionFindings, slug)
		case o.Links.Len() == 0 && o.Factors.Len() == 0 && !inTuple(r, model.ObservationIndex(i)):
			report.UnusedObservations = append(report.UnusedObservations, slug)
		}
	}
	for i, condition := range r.Conditions {
		slug := c.conditionSlug(i)
		if condition.Links.Len() < minFindings {
			report.FewFindings = append(report.FewFindings, slug)
		}
		if c.conditions[slug].source.Course.Line() == 0 {
			report.DefaultCourse = append(report.DefaultCourse, slug)
		}
		if condition.Prevalence == model.Common && condition.Article == model.None {
			report.MissingArticles = append(report.MissingArticles, slug)
		}
	}
	for _, a := range c.core.SimilarPairs {
		report.SimilarPairs = append(report.SimilarPairs, fmt.Sprintf("%s: %s", pairSlugs(a), a.Reason.Text))
	}
	return report
}

func (c *compiler) conditionSlug(i int) string {
	return c.conditionsByDraft[c.draft.Conditions[i]].source.Slug.Text
}

func inTuple(r *model.Release, o model.ObservationIndex) bool {
	for _, item := range r.TupleItems {
		if item == o {
			return true
		}
	}
	return false
}

// String returns the report for a terminal.
func (r Report) String() string { return r.format(true) }

// Summary returns the report without the names of the concepts.
func (r Report) Summary() string { return r.format(false) }

func (r Report) format(withNames bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %d conditions, %d symptoms, %d risk factors, %d laboratory results of %d tests, %d drugs, %d articles, %d links, %d patterns, %d bytes\n",
		r.Model, r.Version, r.Conditions, r.Symptoms, r.RiskFactors, r.LabResults, r.LabTests, r.Drugs, r.Articles, r.Links, r.Patterns, r.ReleaseBytes)
	if r.Untranslated > 0 {
		fmt.Fprintf(&b, "untranslated concepts, groups and articles of an experimental language, taken from its base: %d\n", r.Untranslated)
	}
	for _, section := range []struct {
		title string
		lines []string
	}{
		{fmt.Sprintf("conditions with fewer than %d findings", minFindings), r.FewFindings},
		{"findings linked to one condition only", r.SingleConditionFindings},
		{"observations not used by any condition or tuple", r.UnusedObservations},
		{"conditions with the default course for their acuteness", r.DefaultCourse},
		{"common conditions without an article", r.MissingArticles},
		{"symptoms and risk factors without wordings in the lexicon", r.MissingWordings},
		{"symptoms and risk factors without example sentences", r.MissingExamples},
		{"ambiguous wordings shared by two observations", r.AmbiguousWordings},
		{"pairs of conditions listed as alike", r.SimilarPairs},
		{"indistinguishable pairs of conditions", r.Indistinguishable},
	} {
		fmt.Fprintf(&b, "%s: %d\n", section.title, len(section.lines))
		for _, line := range section.lines {
			if withNames {
				fmt.Fprintf(&b, "  %s\n", line)
			}
		}
	}
	return b.String()
}
