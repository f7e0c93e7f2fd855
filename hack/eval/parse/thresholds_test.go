// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

// TestScoresMeetThresholds checks that the scores of the holdout set meet the thresholds
// of every language.
func TestScoresMeetThresholds(t *testing.T) {
	t.Parallel()
	measured := loadSet(t, dataset.Holdout)
	for _, language := range distinctValues(measured, func(s sentence) string { return s.language }) {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			floor, ok := thresholds[language]
			if !ok {
				t.Fatal("there is no floor")
			}
			outcomes, err := parseAll(language, filterSentences(measured, language, ""))
			if err != nil {
				t.Fatal(err)
			}
			if under := floor.failedMetrics(sumScores(outcomes)); len(under) > 0 {
				var out strings.Builder
				_ = printScores(&out, "measured", outcomes)
				t.Errorf("%s below the floor %+v:\n%s", strings.Join(under, ", "), floor, out.String())
			}
		})
	}
}

func TestFailedMetrics(t *testing.T) {
	t.Parallel()
	half := matchCounts{truePositives: 1, falsePositives: 1, falseNegatives: 1}
	s := score{mentions: half, concepts: half, negation: half, choices: half}
	for want, f := range map[string]threshold{
		"":                                   {0.5, 0.5, 0.5, 0.5},
		"mentions":                           {0.51, 0.5, 0.5, 0.5},
		"concepts negation":                  {0.5, 0.51, 0.51, 0.5},
		"mentions concepts negation choices": {1, 1, 1, 1},
	} {
		if got := strings.Join(f.failedMetrics(s), " "); got != want {
			t.Errorf("%+v: got %q, want %q", f, got, want)
		}
	}
}
