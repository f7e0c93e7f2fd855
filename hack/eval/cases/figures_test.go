// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

func TestFigures(t *testing.T) {
	t.Parallel()
	accepted := []level{{model.Emergency}, {model.Consultation24}}
	for _, row := range []struct {
		title string
		outcome
		want string // short names of the figures that hold
	}{
		{"nothing", outcome{}, ""},
		{"only in the catalogue", outcome{covered: true}, "catalogue"},
		{"first", outcome{heard: true, rank: 1}, "initial first three five"},
		{"second", outcome{rank: 2}, "three five"},
		{"third", outcome{rank: 3}, "three five"},
		{"fourth", outcome{rank: 4}, "five"},
		{"sixth", outcome{rank: 6}, ""},
		{"accepted", outcome{Record: consultation.Record{Level: model.Consultation24}}, "triage safety"},
		{"over-triaged", outcome{Record: consultation.Record{Level: model.EmergencyAmbulance}}, "safety"},
		{"under-triaged", outcome{Record: consultation.Record{Level: model.Consultation}}, ""},
	} {
		row.Triage = accepted
		got := ""
		for _, f := range figures {
			if f.holds(&row.outcome) {
				got += " " + f.short
			}
		}
		if want := row.want; got != "" && got[1:] != want || got == "" && want != "" {
			t.Errorf("%s: got%s, want %s", row.title, got, want)
		}
	}
}

func TestInterval(t *testing.T) {
	t.Parallel()
	for s, want := range map[share][2]float64{
		{0, 0}:    {0, 1},
		{0, 10}:   {0, 0.2775},
		{5, 10}:   {0.2366, 0.7634},
		{10, 10}:  {0.7225, 1},
		{81, 263}: {0.2553, 0.3662}, // the example of Newcombe (1998)
	} {
		low, high := s.interval()
		if math.Abs(low-want[0]) > 5e-5 || math.Abs(high-want[1]) > 5e-5 {
			t.Errorf("%+v: got [%.4f, %.4f], want %v", s, low, high, want)
		}
	}
}

// TestIntervalHoldsTheShare holds that an interval is one of shares around the
// share, narrower with more cases and turned round with the share.
func TestIntervalHoldsTheShare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.IntRange(1, 1000).Draw(t, "of")
		s := share{rapid.IntRange(0, of).Draw(t, "hits"), of}
		low, high := s.interval()
		const little = 1e-12
		if low < 0 || low > s.value()+little || high < s.value()-little || high > 1 {
			t.Fatalf("%+v: [%v, %v]", s, low, high)
		}
		if l, h := (share{4 * s.hits, 4 * s.of}).interval(); h-l >= high-low {
			t.Fatalf("%+v: [%v, %v], and of four times as many [%v, %v]", s, low, high, l, h)
		}
		if l, h := (share{of - s.hits, of}).interval(); math.Abs(l-(1-high)) > 1e-9 || math.Abs(h-(1-low)) > 1e-9 {
			t.Fatalf("%+v: [%v, %v], and turned round [%v, %v]", s, low, high, l, h)
		}
	})
}

func TestShareOf(t *testing.T) {
	t.Parallel()
	f := figure{holds: func(o *outcome) bool { return o.heard }}
	got := f.of([]outcome{{heard: true}, {}, {heard: true}, {}})
	if diff := cmp.Diff(share{2, 4}, got, cmp.AllowUnexported(share{})); diff != "" || got.value() != 0.5 {
		t.Error(got.value(), diff)
	}
	if got := (share{}).value(); got != 0 {
		t.Errorf("of none %v", got)
	}
}

func TestMedianQuestions(t *testing.T) {
	t.Parallel()
	for want, asked := range map[float64][]int{0: nil, 7: {7}, 5: {9, 1, 5}, 5.5: {30, 1, 5, 6}} {
		outcomes := []outcome{{}} // not heard, and not counted
		for _, n := range asked {
			outcomes = append(outcomes, outcome{heard: true, Record: consultation.Record{Questions: n}})
		}
		if got := medianQuestions(outcomes); got != want {
			t.Errorf("%v: got %v, want %v", asked, got, want)
		}
	}
}
