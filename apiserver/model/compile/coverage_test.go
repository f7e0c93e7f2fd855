// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/model/compile"
)

func TestReport(t *testing.T) {
	t.Parallel()
	result := compileFiles(t, edited(t))
	want := compile.Report{
		Model: "service-en", Version: "2026-11-21T00:00:00Z",
		Conditions: 2, Symptoms: 9, RiskFactors: 2, LabResults: 1, LabTests: 1, Links: 8, Patterns: 13, ReleaseBytes: len(result.Release),
		FewFindings:  []string{"migraine", "brain_bleed"},
		OneCondition: []string{"headache_mild", "nausea", "sudden_onset", "crp_high"},
		NoCondition:  []string{"headache_temples", "headache_forehead", "missed_period"},
		UsualCourse:  []string{"migraine", "brain_bleed"},
		NoArticle:    []string{"migraine"},
		NoWordings: []string{
			"headache", "headache_mild", "headache_severe", "headache_temples", "headache_forehead", "nausea", "missed_period",
			"sudden_onset", "reflex_sign", "family_migraine", "smoking",
		},
	}
	if diff := cmp.Diff(want, result.Report); diff != "" {
		t.Error(diff)
	}
}

func TestReportOfArticlesAndCourses(t *testing.T) {
	t.Parallel()
	report := compileFiles(t, edited(t, edit{aboutMigraine, "", leaflet}, edit{neurology, "    acuteness: acute\n", "    acuteness: acute\n    course: {from: 1h, to: 3d}\n"})).Report
	got := compile.Report{Articles: report.Articles, UsualCourse: report.UsualCourse, NoArticle: report.NoArticle}
	if diff := cmp.Diff(compile.Report{Articles: 1, UsualCourse: []string{"migraine"}}, got); diff != "" {
		t.Error(diff)
	}
}

// twin makes the second condition so like the first that only an edit can
// tell them apart.
var twin = []edit{
	{neurology, "    findings: {headache: 0.9, headache_severe: 0.85, sudden_onset: 0.8, crp_high: 0.2}\n    risk_factors: {smoking: 2}\n", "    findings: {headache: 0.9, headache_severe: 0.6, nausea: 0.65}\n    protective: {reflex_sign: {present: 0.4, absent: 1}}\n    risk_factors: {family_migraine: 2}\n"},
	{neurology, "triage_level: emergency_ambulance", "triage_level: consultation"},
	{neurology, "    prior: {per_10000: 2}", "    ages: {to: 80y}\n    prior: {per_10000: 2}"},
}

func TestReportOfPairsThatNothingSeparates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		edits     []edit
		separated bool
	}{
		{"nothing", nil, false},
		{"a share that differs", []edit{{neurology, "nausea: 0.65", "nausea: 0.5"}}, true},
		{"a finding of one only", []edit{{neurology, "nausea: 0.65", "nausea: 0.65, crp_high: 0.4"}}, true},
		{"a finding hardly over its background", []edit{{neurology, "nausea: 0.65", "nausea: 0.65, crp_high: 0.2"}}, false},
		{"a risk factor", []edit{{neurology, "{family_migraine: 2}", "{family_migraine: 2, smoking: 9}"}}, true},
		{"what speaks against one only", []edit{{neurology, "present: 0.4", "present: 0.1"}}, true},
		{"sex", []edit{{neurology, "    ages: {from: 5y}", "    sex: female"}, {neurology, "    ages: {to: 80y}", "    sex: male"}}, true},
		{"age", []edit{{neurology, "to: 80y", "to: 4y"}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			report := compileFiles(t, edited(t, append(append([]edit(nil), twin...), test.edits...)...)).Report
			var want [][2]string
			if !test.separated {
				want = [][2]string{{"migraine", "brain_bleed"}}
			}
			if diff := cmp.Diff(want, report.Unseparated); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReportAsText(t *testing.T) {
	t.Parallel()
	text := compileFiles(t, edited(t, twin...)).Report.String()
	for _, line := range []string{
		"service-en 2026-11-21T00:00:00Z: 2 conditions, 9 symptoms, 2 risk factors, 1 laboratory results of 1 tests, 0 articles, 7 links, ",
		"conditions with the usual course of any as acute: 2\n  migraine\n  brain_bleed\n",
		"common conditions without an article: 1\n  migraine\n",
		"conditions with fewer than 6 findings: 2\n  migraine\n  brain_bleed\n",
		"findings linked to one condition only: 1\n  headache_mild\n",
		"pairs of conditions that no observation separates: 1\n  migraine / brain_bleed\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("the report does not say %q:\n%s", line, text)
		}
	}
}
