// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"slices"
)

// A metric is a proportion of all cases. A case whose complaint was not understood
// counts as a miss.
type metric struct {
	name   string
	column string // column heading
	met    func(*outcome) bool
}

var metrics = []metric{
	{"in the catalog", "catalog", func(o *outcome) bool { return o.inCatalog }},
	{"initial evidence", "initial", func(o *outcome) bool { return o.understood }},
	{"first", "first", func(o *outcome) bool { return o.isRankedWithin(1) }},
	{"first three", "three", func(o *outcome) bool { return o.isRankedWithin(3) }},
	{"first five", "five", func(o *outcome) bool { return o.isRankedWithin(5) }},
	{"triage accuracy", "triage", (*outcome).isTriageCorrect},
	{"safety", "safety", func(o *outcome) bool { return o.Level >= o.minTriageLevel() }},
}

// isRankedWithin reports whether the rank of the diagnosis is at most limit.
func (o *outcome) isRankedWithin(limit int) bool { return 0 < o.rank && o.rank <= limit }

func (o *outcome) isTriageCorrect() bool {
	return slices.Contains(o.Triage, triageLevel{o.Level})
}

// A proportion is the number of hits among a total.
type proportion struct{ hits, total int }

func (m *metric) measure(outcomes []outcome) proportion {
	result := proportion{total: len(outcomes)}
	for i := range outcomes {
		if m.met(&outcomes[i]) {
			result.hits++
		}
	}
	return result
}

// value returns the proportion, or 0 if the total is 0.
func (p proportion) value() float64 { return float64(p.hits) / math.Max(1, float64(p.total)) }

// confidenceInterval returns the 95% Wilson score interval, or 0 to 1 if the total is 0.
func (p proportion) confidenceInterval() (low, high float64) {
	if p.total == 0 {
		return 0, 1
	}
	const z = 1.959964
	n, value := float64(p.total), p.value()
	center := value + z*z/(2*n)
	spread := z * math.Sqrt(value*(1-value)/n+z*z/(4*n*n))
	return math.Max(0, (center-spread)/(1+z*z/n)), math.Min(1, (center+spread)/(1+z*z/n))
}

// medianQuestions returns the median number of questions in the understood cases, or 0 if
// no case was understood.
func medianQuestions(outcomes []outcome) float64 {
	var asked []int
	for i := range outcomes {
		if outcomes[i].understood {
			asked = append(asked, outcomes[i].Questions)
		}
	}
	if len(asked) == 0 {
		return 0
	}
	slices.Sort(asked)
	return float64(asked[(len(asked)-1)/2]+asked[len(asked)/2]) / 2
}
