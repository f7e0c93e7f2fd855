// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

// TestScoresMeetThresholds checks that the scores of the held-out set meet the thresholds
// of every language.
func TestScoresMeetThresholds(t *testing.T) {
	t.Parallel()
	sentences := loadSet(t, dataset.Holdout)
	for _, language := range distinctValues(sentences, func(s sentence) string { return s.language }) {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			minimums, ok := thresholds[language]
			if !ok {
				t.Fatalf("threshold for language %s not found", language)
			}
			outcomes, err := parseAll(language, filterSentences(sentences, language, ""))
			if err != nil {
				t.Fatal(err)
			}
			if failed := minimums.failedMetrics(sumScores(outcomes)); len(failed) > 0 {
				var out strings.Builder
				_ = printScores(&out, language, outcomes)
				t.Errorf("%s: below the thresholds %+v:\n%s", strings.Join(failed, ", "), minimums, out.String())
			}
		})
	}
}

func TestFailedMetrics(t *testing.T) {
	t.Parallel()
	half := matchCounts{truePositives: 1, falsePositives: 1, falseNegatives: 1}
	s := score{mentions: half, concepts: half, negation: half, choices: half}
	for want, minimums := range map[string]threshold{
		"":                                   {0.5, 0.5, 0.5, 0.5},
		"mentions":                           {0.51, 0.5, 0.5, 0.5},
		"concepts negation":                  {0.5, 0.51, 0.51, 0.5},
		"mentions concepts negation choices": {1, 1, 1, 1},
	} {
		if got := strings.Join(minimums.failedMetrics(s), " "); got != want {
			t.Errorf("%+v: got %q, want %q", minimums, got, want)
		}
	}
}
