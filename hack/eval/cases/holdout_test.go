// SPDX-License-Identifier: Apache-2.0

//go:build !race

package main

import (
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/hack/eval/dataset"
)

// TestMetricsMeetThresholds checks that the metrics of the holdout set meet the
// thresholds.
func TestMetricsMeetThresholds(t *testing.T) {
	t.Parallel()
	outcomes, err := testSimulator(t).simulateAll(loadSet(t, dataset.Holdout))
	if err != nil {
		t.Fatal(err)
	}
	if names := failedMetrics(outcomes, thresholds, maxMedianQuestions); len(names) > 0 {
		var out strings.Builder
		_ = printMetrics(&out, dataset.Holdout, outcomes)
		t.Errorf("%s worse than the floor %v, at most %v questions:\n%s", strings.Join(names, ", "), thresholds, maxMedianQuestions, out.String())
	}
}
