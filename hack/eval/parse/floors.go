// SPDX-License-Identifier: Apache-2.0

package main

// A floor is the least F1 on the part to measure on that the tests accept.
type floor struct {
	mentions, concepts, negation, choices float64
}

// floors are by language, a little below what was measured last.
var floors = map[string]floor{
	"de": {mentions: 0.90, concepts: 0.91, negation: 0.88, choices: 0.95},
	"en": {mentions: 0.84, concepts: 0.84, negation: 0.88, choices: 0.97},
}

// under names the figures that are below the floor.
func (f floor) under(s score) []string {
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
