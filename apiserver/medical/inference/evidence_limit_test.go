// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// TestEvidenceLimits expects the limits to apply to evidence of any kind.
func TestEvidenceLimits(t *testing.T) {
	t.Parallel()
	r := newFamilyRelease(t)
	of := func(count int, item string) []ReportedEvidence { return slices.Repeat(parseEvidence(item), count) }
	for name, test := range map[string]struct {
		reported []ReportedEvidence
		want     string
	}{
		"500 unknown":                   {of(500, "?s_1"), ""},
		"100 present and 400 absent":    {append(of(100, "s_1"), of(400, "-s_32")...), ""},
		"501 unknown":                   {of(501, "?s_1"), "evidence: expected at most 500 items, got 501"},
		"501, unknown to the model":     {of(501, "s_99"), "evidence: expected at most 500 items, got 501"},
		"101 present":                   {of(101, "s_1"), "evidence: expected at most 100 items that are present, got 101"},
		"101 present that do not apply": {of(101, "s_31"), "evidence: expected at most 100 items that are present, got 101"},
		"500 present":                   {of(500, "s_1"), "evidence: expected at most 100 items that are present, got 500"},
	} {
		_, err := NewPatient(r, model.Male, 360, test.reported)
		var tooMuch *TooMuchEvidenceError
		if got := ""; errors.As(err, &tooMuch) {
			got = tooMuch.Error()
			if got != test.want {
				t.Errorf("%s: %s, want %q", name, got, test.want)
			}
		} else if err != nil || test.want != "" {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// Findings are the observations that conditions may have caused, each counted once.
func TestFindingCount(t *testing.T) {
	t.Parallel()
	r := newFamilyRelease(t)
	for words, want := range map[string]int{
		"":                           0,
		"s_1":                        1,
		"s_1 s_1":                    1,
		"s_1 s_3 p_1":                1, // a parent, its grandchild, a risk factor
		"s_1 s_31! -s_32":            2,
		"-s_1 ?s_31 p_1":             0,
		"s_31 s_32 s_3 s_22 p_1 s_1": 3, // s_32 applies to children only
	} {
		p, err := NewPatient(r, model.Female, 360, parseEvidence(words))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, p.FindingCount()); diff != "" {
			t.Errorf("%q (-want +got)\n%s", words, diff)
		}
	}
}
