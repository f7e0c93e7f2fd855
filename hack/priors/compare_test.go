// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model/compile/source"
)

// TestPriorsMatchVisitData checks that the priors of office conditions match the survey,
// and that exactly the deviating priors have a documented reason.
func TestPriorsMatchVisitData(t *testing.T) {
	t.Parallel()
	all, err := compareAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if (c.rate.foldDifference() > maxFoldDifference) != (c.DeviationReason != "") {
			t.Errorf("%s: got %.1f of 10,000 episodes in the survey, %.1f in the content; want a factor of at most %d without a reason, or more with one; reason is %q",
				c.Condition, c.rate.observed, c.rate.expected, maxFoldDifference, c.DeviationReason)
		}
	}
}

// sampleVisitsCSV contains 10,000 visits each by women and by men. Half are by children
// aged 2 to 5, half by adults aged 30 to 44.
const sampleVisitsCSV = `icd9,sex,age_band,n,weighted
V20,F,2-5,500,5000
V20,M,2-5,500,5000
V20,F,30-44,450,4500
V20,M,30-44,480,4800
4659,F,30-44,20,200
4659,M,30-44,10,100
460,F,30-44,30,300
460,M,30-44,10,100
`

func TestCompare(t *testing.T) {
	t.Parallel()
	visits, err := readVisitData([]byte(sampleVisitsCSV))
	if err != nil {
		t.Fatal(err)
	}
	c := compare(visits, diagnosis{Condition: "common_cold", ICD9: []string{"46"}, VisitsPerEpisode: 2}, computePrior(&source.Condition{
		Prior: source.Prior{
			Per10000: source.Number{Value: 400},
			Sex:      map[source.Scalar]source.Number{{Text: "male"}: {Value: 0.5}},
			Ages:     map[source.Scalar]source.Number{{Text: "2-5"}: {Value: 0}},
		},
	}))
	// The survey has 700 matching visits among 20,000. With two visits per episode, and half
	// of all visits being first visits, that is 350 episodes per 10,000. The content's prior
	// is 400 among adult women, 200 among adult men, and zero among children, 150 on
	// average.
	if diff := cmp.Diff(pair{350, 150}, c.rate, cmp.AllowUnexported(pair{}), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("rate: %s", diff)
	}
	if diff := cmp.Diff(pair{5.0 / 7, 2.0 / 3}, c.women, cmp.AllowUnexported(pair{}), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("women: %s", diff)
	}
	if c.visits != 70 || len(c.bands) != 1 || c.bands[0].name != "0-120" {
		t.Errorf("got %d visits in bands %v, want 70 in one band", c.visits, c.bands)
	}
	if got := c.rate.foldDifference(); math.Abs(got-350.0/150) > 1e-9 {
		t.Errorf("got a factor of %v, want %v", got, 350.0/150)
	}
}

func TestPoolAgeBands(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sampled []int // visits per band, youngest first
		want    string
	}{
		{[]int{30, 30, 30, 30, 30, 30, 30, 30, 30}, "0-1 2-5 6-11 12-17 18-29 30-44 45-64 65-74 75-120"},
		{[]int{10, 20, 5, 5, 5, 20, 0, 0, 0}, "0-5 6-120"},
		{[]int{0, 0, 0, 0, 0, 0, 0, 0, 50}, "0-120"},
		{[]int{40, 0, 0, 0, 0, 0, 0, 0, 29}, "0-120"},
		{make([]int, 9), "0-120"},
	} {
		c := comparer{matched: newVisitGrid(), all: newVisitGrid(), prior: computePrior(&source.Condition{})}
		for band, n := range test.sampled {
			c.matched[0][band].sampled = n
		}
		var names []string
		for from := 0; from < len(ageBands); {
			to := c.poolEnd(from)
			names = append(names, bandName(from, to))
			from = to
		}
		if got := strings.Join(names, " "); got != test.want {
			t.Errorf("visits %v: got bands %s, want %s", test.sampled, got, test.want)
		}
	}
}

func TestReadVisitDataRejectsInvalidInput(t *testing.T) {
	t.Parallel()
	for _, row := range []string{"460,X,2-5,1,1", "460,F,2-6,1,1", "460,F,2-5,one,1", "460,F,2-5,1,one", "460,F,2-5,1"} {
		if _, err := readVisitData([]byte("icd9,sex,age_band,n,weighted\n" + row + "\n")); err == nil || !strings.Contains(err.Error(), "survey") {
			t.Errorf("row %s: got error %v", row, err)
		}
	}
}

func TestReadDiagnosesRejectsInvalidInput(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		`- {condition: a, icd9: ["1"], visits_per_episode: 0.5}`,
		`- {condition: a, icd9: [], visits_per_episode: 1}`,
		"- {condition: a, icd9: ['1'], visits_per_episode: 1}\n- {condition: a, icd9: ['2'], visits_per_episode: 1}",
		`- {slug: a}`,
	} {
		if _, err := readDiagnoses([]byte(file)); err == nil {
			t.Errorf("got no error for %s", file)
		}
	}
}

func TestPrintReport(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	rows := []comparison{
		{diagnosis: diagnosis{Condition: "gout", VisitsPerEpisode: 2, DeviationReason: "rare"}, visits: 11, rate: pair{10, 50}, bands: []bandRate{{"0-64", 5, pair{1, 2}}, {"65-120", 6, pair{3, 4}}}},
		{diagnosis: diagnosis{Condition: "migraine", VisitsPerEpisode: 2}, rate: pair{10, 12}},
	}
	if err := printReport(&out, rows, 1, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 conditions", "1 within a factor of 1.5, 1 within 2, 1 within 3", "5.00", "gout (rare)", "65-120"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output does not contain %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "migraine") {
		t.Errorf("output contains more than the worst condition:\n%s", out.String())
	}
}
