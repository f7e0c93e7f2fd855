// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"slices"
)

// A figure is a share of the cases, of all of them: whoever was not heard is a
// miss of each.
type figure struct {
	name  string
	short string // at the head of a column
	holds func(*outcome) bool
}

var figures = []figure{
	{"in the catalogue", "catalogue", func(o *outcome) bool { return o.covered }},
	{"initial evidence", "initial", func(o *outcome) bool { return o.heard }},
	{"first", "first", func(o *outcome) bool { return o.within(1) }},
	{"first three", "three", func(o *outcome) bool { return o.within(3) }},
	{"first five", "five", func(o *outcome) bool { return o.within(5) }},
	{"triage accuracy", "triage", (*outcome).rightTriage},
	{"safety", "safety", func(o *outcome) bool { return o.Level >= o.lowest() }},
}

// within reports whether the diagnosis is among the first of the ranking.
func (o *outcome) within(first int) bool { return 0 < o.rank && o.rank <= first }

func (o *outcome) rightTriage() bool {
	return slices.Contains(o.Triage, level{o.Level})
}

// A share is how many of some cases a figure holds of.
type share struct{ hits, of int }

func (f *figure) of(outcomes []outcome) share {
	s := share{of: len(outcomes)}
	for i := range outcomes {
		if f.holds(&outcomes[i]) {
			s.hits++
		}
	}
	return s
}

// value is the share itself, 0 of none.
func (s share) value() float64 { return float64(s.hits) / math.Max(1, float64(s.of)) }

// interval is the 95 % confidence interval of Wilson (1927); of none, all that
// a share may be.
func (s share) interval() (low, high float64) {
	if s.of == 0 {
		return 0, 1
	}
	const z = 1.959964
	n, p := float64(s.of), s.value()
	centre := p + z*z/(2*n)
	spread := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return math.Max(0, (centre-spread)/(1+z*z/n)), math.Min(1, (centre+spread)/(1+z*z/n))
}

// medianQuestions is the median of the questions asked of those who were heard,
// 0 of none.
func medianQuestions(outcomes []outcome) float64 {
	var asked []int
	for i := range outcomes {
		if outcomes[i].heard {
			asked = append(asked, outcomes[i].Questions)
		}
	}
	if len(asked) == 0 {
		return 0
	}
	slices.Sort(asked)
	return float64(asked[(len(asked)-1)/2]+asked[len(asked)/2]) / 2
}
