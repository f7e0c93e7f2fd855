// SPDX-License-Identifier: Apache-2.0

package main

// A threshold is the minimum F1 on the held-out set that the tests accept.
type threshold struct {
	mentions, concepts, negation, choices float64
}

// thresholds are the minimum F1 by language, set slightly below the last measurement.
var thresholds = map[string]threshold{
	"de": {mentions: 0.90, concepts: 0.91, negation: 0.88, choices: 0.95},
	"en": {mentions: 0.84, concepts: 0.84, negation: 0.88, choices: 0.97},
}

// failedMetrics returns the names of the metrics below the threshold.
func (f threshold) failedMetrics(s score) []string {
	var names []string
	for _, figure := range []struct {
		name         string
		got, atLeast float64
	}{
		{"mentions", s.mentions.f1(), f.mentions},
		{"concepts", s.concepts.f1(), f.concepts},
		{"negation", s.negation.f1(), f.negation},
		{"choices", s.choices.f1(), f.choices},
	} {
		if figure.got < figure.atLeast {
			names = append(names, figure.name)
		}
	}
	return names
}
