// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// TestFloors holds the figures of the part to measure on, of every language
// that has one.
func TestFloors(t *testing.T) {
	t.Parallel()
	measured := part(t, measurePart)
	for _, language := range values(measured, func(s sentence) string { return s.language }) {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			floor, ok := floors[language]
			if !ok {
				t.Fatal("there is no floor")
			}
			outcomes, err := parseAll(language, choose(measured, language, ""))
			if err != nil {
				t.Fatal(err)
			}
			if under := floor.under(total(outcomes)); len(under) > 0 {
				var out strings.Builder
				_ = printScores(&out, "measured", outcomes)
				t.Errorf("%s below the floor %+v:\n%s", strings.Join(under, ", "), floor, out.String())
			}
		})
	}
}

func TestUnderTheFloor(t *testing.T) {
	t.Parallel()
	half := count{right: 1, wrong: 1, missing: 1}
	s := score{mentions: half, concepts: half, negation: half, choices: half}
	for want, f := range map[string]floor{
		"":                                   {0.5, 0.5, 0.5, 0.5},
		"mentions":                           {0.51, 0.5, 0.5, 0.5},
		"concepts negation":                  {0.5, 0.51, 0.51, 0.5},
		"mentions concepts negation choices": {1, 1, 1, 1},
	} {
		if got := strings.Join(f.under(s), " "); got != want {
			t.Errorf("%+v: got %q, want %q", f, got, want)
		}
	}
}
