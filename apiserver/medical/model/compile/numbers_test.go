// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// TestOddsMultipliersPreserveMean checks that the multipliers average out over the
// population, and that the ratio between people with and without the risk factor is the
// relative risk.
func TestOddsMultipliersPreserveMean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		risk := rapid.Float64Range(0.01, 100).Draw(t, "risk")
		share := rapid.Float64Range(0.001, 0.999).Draw(t, "share")
		present, absent := oddsMultipliers(risk, share)
		if mean := share*present + (1-share)*absent; math.Abs(mean-1) > 1e-9 {
			t.Fatalf("the mean of %v and %v is %v", present, absent, mean)
		}
		if math.Abs(present/absent-risk) > 1e-9*risk {
			t.Fatalf("%v is %v times %v, want %v times", present, present/absent, absent, risk)
		}
	})
}

func TestPrevalenceClass(t *testing.T) {
	t.Parallel()
	for per10000, want := range map[float64]model.Prevalence{
		120: model.Common, 50: model.Common, 49.9: model.ModeratePrevalence, 5: model.ModeratePrevalence,
		4.9: model.Rare, 0.5: model.Rare, 0.49: model.VeryRare, 0.001: model.VeryRare,
	} {
		if got := prevalenceClass(per10000); got != want {
			t.Errorf("%v in 10,000 are %v, want %v", per10000, got, want)
		}
	}
}

func TestParseAge(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		age         string
		first, last uint16
		ok          bool
	}{
		{"0m", 0, 0, true},
		{"18m", 18, 18, true},
		{"0y", 0, 11, true},
		{"5y", 60, 71, true},
		{"130y", 1560, 1571, true},
		{"131y", 0, 0, false},
		{"1571m", 1571, 1571, true},
		{"1572m", 0, 0, false},
		{"", 0, 0, false},
		{"y", 0, 0, false},
		{"5", 0, 0, false},
		{"5d", 0, 0, false},
		{"-1y", 0, 0, false},
		{"1.5y", 0, 0, false},
		{"5 y", 0, 0, false},
		{"65536y", 0, 0, false},
	} {
		first, last, err := parseAge(test.age)
		if (err == nil) != test.ok || first != test.first || last != test.last {
			t.Errorf("parseAge(%q) = %d, %d, %v", test.age, first, last, err)
		}
	}
}

func TestFormatLimitRoundsDown(t *testing.T) {
	t.Parallel()
	for limit, want := range map[float64]string{0.89515: "0.8951", 0.1: "0.1", 0.000123456: "0.0001234", 0.99999: "0.9999"} {
		if got := formatLimit(limit); got != want {
			t.Errorf("showLimit(%v) = %s, want %s", limit, got, want)
		}
	}
}

func TestFoldWording(t *testing.T) {
	t.Parallel()
	for wording, want := range map[string]string{
		"Head  Pain ": "head pain",
		"STRAßE":      "strasse",
		"ﬁbre":        "fibre",
		"Ｆｅｖｅｒ":       "fever",
		" ":           "",
	} {
		if got := foldWording(wording); got != want {
			t.Errorf("fold(%q) = %q, want %q", wording, got, want)
		}
	}
}

// TestDefaultCoursesOrderedByAcuteness checks that default courses are longer for less
// acute conditions.
func TestDefaultCoursesOrderedByAcuteness(t *testing.T) {
	t.Parallel()
	order := []model.Acuteness{model.Acute, model.AcutePotentiallyChronic, model.ChronicWithExacerbations, model.Chronic}
	for i := range len(order) - 1 {
		shorter, longer := defaultCourses[order[i]], defaultCourses[order[i+1]]
		if shorter.Mean >= longer.Mean {
			t.Errorf("%v lasts %v, %v lasts %v", order[i], shorter, order[i+1], longer)
		}
	}
}
