// SPDX-License-Identifier: Apache-2.0

package main

// thresholds are the minimum values on the held-out set that the tests accept, by
// metric, set slightly below the last measurement.
var thresholds = map[string]float64{
	"in the catalog":   0.97,
	"initial evidence": 0.95,
	"first":            0.73,
	"first three":      0.83,
	"first five":       0.85,
	"triage accuracy":  0.82,
	"safety":           0.96,
}

// maxMedianQuestions is the maximum median number of questions that the tests accept.
const maxMedianQuestions = 18.0

// failedMetrics returns the names of metrics that are below their minimum or have none.
func failedMetrics(outcomes []outcome, minimums map[string]float64, maxQuestions float64) []string {
	var names []string
	for _, m := range metrics {
		if minimum, ok := minimums[m.name]; !ok || m.measure(outcomes).value() < minimum {
			names = append(names, m.name)
		}
	}
	if medianQuestions(outcomes) > maxQuestions {
		names = append(names, "median questions")
	}
	return names
}
