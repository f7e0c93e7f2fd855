// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	accepted := []triageLevel{{model.Emergency}, {model.Consultation24}}
	for _, row := range []struct {
		title string
		outcome
		want string // columns of the metrics that are met
	}{
		{"empty", outcome{}, ""},
		{"only in the catalog", outcome{inCatalog: true}, "catalog"},
		{"first", outcome{understood: true, rank: 1}, "initial first three five"},
		{"second", outcome{rank: 2}, "three five"},
		{"third", outcome{rank: 3}, "three five"},
		{"fourth", outcome{rank: 4}, "five"},
		{"sixth", outcome{rank: 6}, ""},
		{"accepted", outcome{Transcript: consultation.Transcript{Level: model.Consultation24}}, "triage safety"},
		{"over-triaged", outcome{Transcript: consultation.Transcript{Level: model.EmergencyAmbulance}}, "safety"},
		{"under-triaged", outcome{Transcript: consultation.Transcript{Level: model.Consultation}}, ""},
	} {
		row.Triage = accepted
		got := ""
		for _, f := range metrics {
			if f.met(&row.outcome) {
				got += " " + f.column
			}
		}
		if want := row.want; got != "" && got[1:] != want || got == "" && want != "" {
			t.Errorf("%s: got%s, want %s", row.title, got, want)
		}
	}
}

func TestConfidenceInterval(t *testing.T) {
	t.Parallel()
	for s, want := range map[proportion][2]float64{
		{0, 0}:    {0, 1},
		{0, 10}:   {0, 0.2775},
		{5, 10}:   {0.2366, 0.7634},
		{10, 10}:  {0.7225, 1},
		{81, 263}: {0.2553, 0.3662}, // example from Newcombe (1998)
	} {
		low, high := s.confidenceInterval()
		if math.Abs(low-want[0]) > 5e-5 || math.Abs(high-want[1]) > 5e-5 {
			t.Errorf("%+v: got [%.4f, %.4f], want %v", s, low, high, want)
		}
	}
}

// TestConfidenceIntervalProperties checks that the interval lies within [0, 1], contains
// the proportion, narrows with more cases, and mirrors for the complement.
func TestConfidenceIntervalProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.IntRange(1, 1000).Draw(t, "total")
		s := proportion{rapid.IntRange(0, total).Draw(t, "hits"), total}
		low, high := s.confidenceInterval()
		const epsilon = 1e-12
		if low < 0 || low > s.value()+epsilon || high < s.value()-epsilon || high > 1 {
			t.Fatalf("%+v: got [%v, %v]", s, low, high)
		}
		if l, h := (proportion{4 * s.hits, 4 * s.total}).confidenceInterval(); h-l >= high-low {
			t.Fatalf("%+v: got [%v, %v], and [%v, %v] for four times as many cases", s, low, high, l, h)
		}
		if l, h := (proportion{total - s.hits, total}).confidenceInterval(); math.Abs(l-(1-high)) > 1e-9 || math.Abs(h-(1-low)) > 1e-9 {
			t.Fatalf("%+v: got [%v, %v], and [%v, %v] for the complement", s, low, high, l, h)
		}
	})
}

func TestMetricMeasure(t *testing.T) {
	t.Parallel()
	f := metric{met: func(o *outcome) bool { return o.understood }}
	got := f.measure([]outcome{{understood: true}, {}, {understood: true}, {}})
	if diff := cmp.Diff(proportion{2, 4}, got, cmp.AllowUnexported(proportion{})); diff != "" || got.value() != 0.5 {
		t.Error(got.value(), diff)
	}
	if got := (proportion{}).value(); got != 0 {
		t.Errorf("got %v for an empty proportion, want 0", got)
	}
}

func TestMedianQuestions(t *testing.T) {
	t.Parallel()
	for want, asked := range map[float64][]int{0: nil, 7: {7}, 5: {9, 1, 5}, 5.5: {30, 1, 5, 6}} {
		outcomes := []outcome{{}} // not understood, so not counted
		for _, n := range asked {
			outcomes = append(outcomes, outcome{understood: true, Transcript: consultation.Transcript{Questions: n}})
		}
		if got := medianQuestions(outcomes); got != want {
			t.Errorf("%v: got %v, want %v", asked, got, want)
		}
	}
}
