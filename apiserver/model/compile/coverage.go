// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A Report says where the content is thin. Nothing in it is wrong, but all of
// it is worth a look. Concepts stand by their slugs.
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
	// Untranslated is how many concepts, groups and articles an experimental
	// language takes from its base as they are.
	Untranslated int `json:"untranslated"`
	// FewFindings are the conditions with fewer than fewFindings findings.
	FewFindings []string `json:"few_findings"`
	// OneCondition are the symptoms and laboratory results that one condition
	// only is linked to, NoCondition the observations that none has as a
	// finding, a factor or part of a tuple.
	OneCondition []string `json:"one_condition"`
	NoCondition  []string `json:"no_condition"`
	// UsualCourse are the conditions whose course is that of any as acute, for
	// the sources name none.
	UsualCourse []string `json:"usual_course"`
	// NoArticle are the common conditions that patients can read nothing about.
	NoArticle []string `json:"no_article"`
	// NoWordings are the symptoms and risk factors that the lexicon says nothing
	// of.
	NoWordings []string `json:"no_wordings"`
	// NoExamples are those of which nobody wrote what people say, in a language
	// that has examples.
	NoExamples []string `json:"no_examples"`
	// SharedWordings are the pairs of wordings of two observations that one text
	// could be.
	SharedWordings []string `json:"shared_wordings"`
	// Unseparated are the pairs of conditions that what patients can tell does
	// not separate, and Alike those of them that the content lists, with the
	// reason.
	Unseparated []string `json:"unseparated"`
	Alike       []string `json:"alike"`
}

// fewFindings is the number of findings from which on a condition can be told
// from others by more than chance.
const fewFindings = 6

// report describes a release that compiled.
func (c *compiler) report(r *model.Release) Report {
	report := Report{
		Model:      r.Meta.ModelID,
		Version:    r.Meta.Version,
		Conditions: len(r.Conditions),
		LabTests:   len(r.LabTests),
		Drugs:      len(r.Drugs),
		Articles:   len(r.Articles),
		Links:      len(r.LinksByCondition),
		Patterns:   len(c.draft.Lexicon.Patterns),
		NoWordings: c.withoutWordings(), NoExamples: c.withoutExamples(), SharedWordings: c.sharedWordings, Unseparated: c.unseparated,
	}
	if c.words.Experimental.Value {
		report.Untranslated = c.words.Inherited
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
		slug := c.observationOf[c.draft.Observations[i]].source.Slug.Text
		switch {
		case o.Links.Len() == 1 && o.Kind != model.RiskFactor:
			report.OneCondition = append(report.OneCondition, slug)
		case o.Links.Len() == 0 && o.Factors.Len() == 0 && !inTuple(r, model.ObservationIndex(i)):
			report.NoCondition = append(report.NoCondition, slug)
		}
	}
	for i, condition := range r.Conditions {
		slug := c.slugOfCondition(i)
		if condition.Links.Len() < fewFindings {
			report.FewFindings = append(report.FewFindings, slug)
		}
		if c.conditions[slug].source.Course.Line() == 0 {
			report.UsualCourse = append(report.UsualCourse, slug)
		}
		if condition.Prevalence == model.Common && condition.Article == model.None {
			report.NoArticle = append(report.NoArticle, slug)
		}
	}
	for _, a := range c.core.Alike {
		report.Alike = append(report.Alike, fmt.Sprintf("%s: %s", slugsOfPair(a), a.Reason.Text))
	}
	return report
}

func (c *compiler) slugOfCondition(i int) string {
	return c.conditionOf[c.draft.Conditions[i]].source.Slug.Text
}

func inTuple(r *model.Release, o model.ObservationIndex) bool {
	for _, item := range r.TupleItems {
		if item == o {
			return true
		}
	}
	return false
}

// String is the report as people read it in a terminal.
func (r Report) String() string { return r.text(true) }

// Brief is the report without the names of what is thin.
func (r Report) Brief() string { return r.text(false) }

func (r Report) text(named bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %d conditions, %d symptoms, %d risk factors, %d laboratory results of %d tests, %d drugs, %d articles, %d links, %d patterns, %d bytes\n",
		r.Model, r.Version, r.Conditions, r.Symptoms, r.RiskFactors, r.LabResults, r.LabTests, r.Drugs, r.Articles, r.Links, r.Patterns, r.ReleaseBytes)
	if r.Untranslated > 0 {
		fmt.Fprintf(&b, "an experimental language, with concepts, groups and articles as they are in its base: %d\n", r.Untranslated)
	}
	for _, section := range []struct {
		title string
		lines []string
	}{
		{fmt.Sprintf("conditions with fewer than %d findings", fewFindings), r.FewFindings},
		{"findings linked to one condition only", r.OneCondition},
		{"observations that no condition and no tuple names", r.NoCondition},
		{"conditions with the usual course of any as acute", r.UsualCourse},
		{"common conditions without an article", r.NoArticle},
		{"symptoms and risk factors that the lexicon says nothing of", r.NoWordings},
		{"symptoms and risk factors without examples of what people say", r.NoExamples},
		{"wordings of two observations that one text could be", r.SharedWordings},
		{"pairs of conditions that are listed as alike", r.Alike},
		{"pairs of conditions that nothing separates", r.Unseparated},
	} {
		fmt.Fprintf(&b, "%s: %d\n", section.title, len(section.lines))
		for _, line := range section.lines {
			if named {
				fmt.Fprintf(&b, "  %s\n", line)
			}
		}
	}
	return b.String()
}
