// SPDX-License-Identifier: Apache-2.0

package compile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile"
)

// makeSimilar makes the second condition so similar to the first that only another edit
// separates them.
var makeSimilar = []edit{
	{neurology, "    findings: {headache: 0.9, headache_severe: 0.85, sudden_onset: 0.8, crp_high: 0.2}\n    risk_factors: {smoking: 2}\n", "    findings: {headache: 0.9, headache_severe: 0.6, nausea: 0.65}\n    protective: {reflex_sign: {present: 0.4, absent: 1}}\n    risk_factors: {family_migraine: 2}\n"},
	{neurology, "triage_level: emergency_ambulance", "triage_level: consultation"},
	{neurology, "    prior: {per_10000: 2}", "    ages: {to: 80y}\n    prior: {per_10000: 2}"},
}

// declareSimilar declares the pair as similar.
var declareSimilar = edit{neurology, "conditions:\n", "alike:\n  - conditions: [brain_bleed, migraine]\n    reason: Both ache.\nconditions:\n"}

func TestSimilarConditions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		edits   []edit
		wantErr string // reported for the pair, empty for nothing
	}{
		{"nothing separates them", nil, "migraine and brain_bleed overlap by 0.81"},
		{"listed", []edit{declareSimilar}, ""},
		{"a share that differs much", []edit{{neurology, "headache_severe: 0.6, nausea: 0.65", "headache_severe: 0.01, nausea: 0.04"}}, ""},
		{"a share that differs a little", []edit{{neurology, "nausea: 0.65", "nausea: 0.5"}}, "overlap by 0.79"},
		{"a finding of one only", []edit{{neurology, "nausea: 0.65", "nausea: 0.65, sudden_onset: 0.95"}}, ""},
		{"what a laboratory finds", []edit{{neurology, "nausea: 0.65", "nausea: 0.65, crp_high: 0.95"}}, "overlap by 0.81"},
		{"a risk factor that all of them have", []edit{{neurology, "{family_migraine: 2}", "{family_migraine: 2, smoking: 900}"}}, ""},
		{"sex", []edit{{neurology, "    ages: {from: 5y}", "    sex: female"}, {neurology, "    ages: {to: 80y}", "    sex: male"}}, ""},
		{"age", []edit{{neurology, "    prior: {per_10000: 2}", "    prior: {per_10000: 2, ages: {12-17: 0, 18-29: 0, 30-44: 0, 45-64: 0, 65-74: 0, 75+: 0}}"}}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			report := compileFiles(t, applyEdits(t, append(slices.Clone(makeSimilar), test.edits...)...)).Report
			got := strings.Join(report.Indistinguishable, ", ")
			if test.wantErr == "" && got != "" || !strings.Contains(got, test.wantErr) {
				t.Errorf("report is %q, want %q", got, test.wantErr)
			}
		})
	}
}

func TestCompileRejectsInvalidSimilarPairs(t *testing.T) {
	t.Parallel()
	list := func(text string) edit { return edit{neurology, "conditions:\n", "alike:\n" + text + "conditions:\n"} }
	for _, test := range []struct {
		name    string
		edits   []edit
		wantErr string
	}{
		{"without need", []edit{declareSimilar, {neurology, "{family_migraine: 2}", "{family_migraine: 2, smoking: 900}"}}, "remove the pair"},
		{"unknown", []edit{list("  - conditions: [brain_bleed, migrane]\n    reason: Both ache.\n")}, "unknown condition migrane"},
		{"one alone", []edit{list("  - conditions: [brain_bleed]\n    reason: It aches.\n")}, "alike entry has 1 conditions: expected two"},
		{"no reason", []edit{list("  - conditions: [brain_bleed, migraine]\n")}, "reason of alike brain_bleed and migraine is missing"},
		{"twice", []edit{declareSimilar, {neurology, "conditions:\n  - slug", "  - conditions: [migraine, brain_bleed]\n    reason: Both ache.\nconditions:\n  - slug"}}, "are listed twice"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := compile.Compile(applyEdits(t, append(slices.Clone(makeSimilar), test.edits...)...), "en")
			if err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("error %v does not contain %q", err, test.wantErr)
			}
		})
	}
}

func TestReportIncludesSimilarityReason(t *testing.T) {
	t.Parallel()
	text := compileFiles(t, applyEdits(t, append(slices.Clone(makeSimilar), declareSimilar)...)).Report.String()
	if want := "listed as alike: 1\n  brain_bleed and migraine: Both ache.\n"; !strings.Contains(text, want) {
		t.Errorf("report does not contain %q:\n%s", want, text)
	}
}
