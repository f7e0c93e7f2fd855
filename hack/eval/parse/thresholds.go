// SPDX-License-Identifier: Apache-2.0

package main

// A threshold holds the minimum F1 scores on the held-out set that the tests accept.
type threshold struct {
	mentions, concepts, negation, choices float64
}

// thresholds holds the minimum F1 scores by language, slightly below the last measurement.
var thresholds = map[string]threshold{
	"de": {mentions: 0.90, concepts: 0.91, negation: 0.88, choices: 0.95},
	"en": {mentions: 0.84, concepts: 0.84, negation: 0.88, choices: 0.97},
}

// failedMetrics returns the names of the metrics below the threshold.
func (t threshold) failedMetrics(s score) []string {
	var names []string
	for _, metric := range []struct {
		name         string
		got, minimum float64
	}{
		{"mentions", s.mentions.f1(), t.mentions},
		{"concepts", s.concepts.f1(), t.concepts},
		{"negation", s.negation.f1(), t.negation},
		{"choices", s.choices.f1(), t.choices},
	} {
		if metric.got < metric.minimum {
			names = append(names, metric.name)
		}
	}
	return names
}
