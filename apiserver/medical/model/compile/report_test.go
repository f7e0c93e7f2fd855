// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile"
)

func TestReport(t *testing.T) {
	t.Parallel()
	result := compileFiles(t, applyEdits(t))
	want := compile.Report{
		Model: "service-en", Version: "2026-11-21T00:00:00Z",
		Conditions: 2, Symptoms: 9, RiskFactors: 2, LabResults: 1, LabTests: 1, Links: 8, Patterns: 13, ReleaseBytes: len(result.Release),
		FewFindings:             []string{"migraine", "brain_bleed"},
		SingleConditionFindings: []string{"headache_mild", "nausea", "sudden_onset", "crp_high"},
		UnusedObservations:      []string{"headache_temples", "headache_forehead", "missed_period"},
		DefaultCourse:           []string{"migraine", "brain_bleed"},
		MissingArticles:         []string{"migraine"},
		MissingWordings: []string{
			"headache", "headache_mild", "headache_severe", "headache_temples", "headache_forehead", "nausea", "missed_period",
			"sudden_onset", "reflex_sign", "family_migraine", "smoking",
		},
	}
	if diff := cmp.Diff(want, result.Report); diff != "" {
		t.Error(diff)
	}
}

func TestReportArticlesAndCourses(t *testing.T) {
	t.Parallel()
	report := compileFiles(t, applyEdits(t, edit{migraineArticleFile, "", migraineArticle}, edit{neurology, "    acuteness: acute\n", "    acuteness: acute\n    course: {from: 1h, to: 3d}\n"})).Report
	got := compile.Report{Articles: report.Articles, DefaultCourse: report.DefaultCourse, MissingArticles: report.MissingArticles}
	if diff := cmp.Diff(compile.Report{Articles: 1, DefaultCourse: []string{"migraine"}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReportExamples(t *testing.T) {
	t.Parallel()
	const examples = "observations:\n  headache: [drums behind my eyes]\n  smoking: [a pack every day]\nnothing: [thanks]\n"
	got := compileFiles(t, applyEdits(t, edit{"lang/en/examples.yaml", "", examples})).Report.MissingExamples
	want := []string{
		"headache_mild", "headache_severe", "headache_temples", "headache_forehead", "nausea", "missed_period", "sudden_onset", "reflex_sign",
		"family_migraine",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReportSummary(t *testing.T) {
	t.Parallel()
	text := compileFiles(t, applyEdits(t, makeSimilar...)).Report.Summary()
	if want := "conditions with fewer than 6 findings: 2\nfindings linked"; !strings.Contains(text, want) {
		t.Errorf("report does not contain %q:\n%s", want, text)
	}
}

func TestReportString(t *testing.T) {
	t.Parallel()
	text := compileFiles(t, applyEdits(t, makeSimilar...)).Report.String()
	for _, line := range []string{
		"service-en 2026-11-21T00:00:00Z: 2 conditions, 9 symptoms, 2 risk factors, 1 laboratory results of 1 tests, 0 drugs, 0 articles, 7 links, ",
		"conditions with the default course for their acuteness: 2\n  migraine\n  brain_bleed\n",
		"common conditions without an article: 1\n  migraine\n",
		"conditions with fewer than 6 findings: 2\n  migraine\n  brain_bleed\n",
		"findings linked to one condition only: 1\n  headache_mild\n",
		"indistinguishable pairs of conditions: 1\n  migraine and brain_bleed overlap by 0.81\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("report does not contain %q:\n%s", line, text)
		}
	}
}
