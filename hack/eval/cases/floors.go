// SPDX-License-Identifier: Apache-2.0

package main

// floors are the least shares on the part to measure on that the tests accept,
// by figure, a little below what was measured last.
var floors = map[string]float64{
	"in the catalogue": 0.97,
	"initial evidence": 0.95,
	"first":            0.73,
	"first three":      0.83,
	"first five":       0.85,
	"triage accuracy":  0.82,
	"safety":           0.96,
}

// mostMedianQuestions is the highest median of questions that the tests accept.
const mostMedianQuestions = 18.0

// amiss names the figures that are below their floor, or have none.
func amiss(outcomes []outcome, floors map[string]float64, mostQuestions float64) []string {
	var names []string
	for _, f := range figures {
		if floor, ok := floors[f.name]; !ok || f.of(outcomes).value() < floor {
			names = append(names, f.name)
		}
	}
	if medianQuestions(outcomes) > mostQuestions {
		names = append(names, "median questions")
	}
	return names
}
