// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"math"
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
	// SharedWordings are the pairs of wordings of two observations that one text
	// could be.
	SharedWordings []string `json:"shared_wordings"`
	// Unseparated are the pairs of conditions that the same patient could
	// have and no observation tells apart.
	Unseparated [][2]string `json:"unseparated"`
}

const (
	// fewFindings is the number of findings from which on a condition can be
	// told from others by more than chance.
	fewFindings = 6
	// separatingShare is the difference in share, and separatingOdds the ratio
	// of odds multipliers, from which on an observation tells two conditions
	// apart.
	separatingShare = 0.15
	separatingOdds  = 2.0
)

// report describes a release that compiled.
func (c *compiler) report(r *model.Release) Report {
	report := Report{
		Model:      r.Meta.ModelID,
		Version:    r.Meta.Version,
		Conditions: len(r.Conditions),
		LabTests:   len(r.LabTests),
		Articles:   len(r.Articles),
		Links:      len(r.LinksByCondition),
		Patterns:   len(c.draft.Lexicon.Patterns),
		NoWordings: c.withoutWordings(), SharedWordings: c.sharedWordings,
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
	for _, pair := range unseparated(r) {
		report.Unseparated = append(report.Unseparated, [2]string{c.slugOfCondition(pair[0]), c.slugOfCondition(pair[1])})
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

// unseparated compares all pairs of conditions, each as two dense profiles
// over the observations.
func unseparated(r *model.Release) [][2]int {
	shares, odds := profiles(r)
	var pairs [][2]int
	for a := range r.Conditions {
		for b := a + 1; b < len(r.Conditions); b++ {
			if sharePatients(&r.Conditions[a], &r.Conditions[b]) && !separate(shares[a], shares[b], odds[a], odds[b]) {
				pairs = append(pairs, [2]int{a, b})
			}
		}
	}
	return pairs
}

// sharePatients reports whether one patient could have either condition.
func sharePatients(a, b *model.Condition) bool {
	return !disjoint(a.Sex, b.Sex) && a.AgeFrom <= b.AgeTo && b.AgeFrom <= a.AgeTo
}

// profiles gives for each condition the share of each observation, its leak
// where there is no link, and its odds multiplier as a logarithm.
func profiles(r *model.Release) (shares, odds [][]float64) {
	for range r.Conditions {
		shares = append(shares, make([]float64, len(r.Observations)))
		odds = append(odds, make([]float64, len(r.Observations)))
	}
	for i, o := range r.Observations {
		for c := range r.Conditions {
			shares[c][i] = o.Leak
		}
		for _, link := range model.Part(r.LinksByObservation, o.Links) {
			shares[link.Other][i] = link.Share
		}
		for _, f := range model.Part(r.Factors, o.Factors) {
			odds[f.Condition][i] = math.Log(f.Present)
		}
	}
	return shares, odds
}

func separate(sharesA, sharesB, oddsA, oddsB []float64) bool {
	for i := range sharesA {
		if math.Abs(sharesA[i]-sharesB[i]) >= separatingShare || math.Abs(oddsA[i]-oddsB[i]) >= math.Log(separatingOdds) {
			return true
		}
	}
	return false
}

// String is the report as people read it in a terminal.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %d conditions, %d symptoms, %d risk factors, %d laboratory results of %d tests, %d articles, %d links, %d patterns, %d bytes\n",
		r.Model, r.Version, r.Conditions, r.Symptoms, r.RiskFactors, r.LabResults, r.LabTests, r.Articles, r.Links, r.Patterns, r.ReleaseBytes)
	if r.Untranslated > 0 {
		fmt.Fprintf(&b, "an experimental language, with concepts, groups and articles as they are in its base: %d\n", r.Untranslated)
	}
	section := func(title string, lines []string) {
		fmt.Fprintf(&b, "%s: %d\n", title, len(lines))
		for _, line := range lines {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	section(fmt.Sprintf("conditions with fewer than %d findings", fewFindings), r.FewFindings)
	section("findings linked to one condition only", r.OneCondition)
	section("observations that no condition and no tuple names", r.NoCondition)
	section("conditions with the usual course of any as acute", r.UsualCourse)
	section("common conditions without an article", r.NoArticle)
	section("symptoms and risk factors that the lexicon says nothing of", r.NoWordings)
	section("wordings of two observations that one text could be", r.SharedWordings)
	pairs := make([]string, len(r.Unseparated))
	for i, pair := range r.Unseparated {
		pairs[i] = pair[0] + " / " + pair[1]
	}
	section("pairs of conditions that no observation separates", pairs)
	return b.String()
}
