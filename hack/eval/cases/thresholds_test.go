// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

func TestFailedMetrics(t *testing.T) {
	t.Parallel()
	half := []outcome{{inCatalog: true, understood: true, rank: 1, Transcript: consultation.Transcript{Questions: 10}}, {}}
	half[0].Level = half[0].minTriageLevel()
	half[0].Triage = []triageLevel{{half[0].Level}}
	half[1].Triage = half[0].Triage
	met := map[string]float64{}
	for _, m := range metrics {
		met[m.name] = 0.5
	}
	if got := failedMetrics(half, met, 10); len(got) > 0 {
		t.Errorf("got failed metrics %v, want none", got)
	}
	if got := strings.Join(failedMetrics(half, met, 9.5), " "); got != "median questions" {
		t.Errorf("got %q with too many questions, want the median", got)
	}
	for _, m := range metrics {
		higher, without := maps.Clone(met), maps.Clone(met)
		higher[m.name] = 0.51
		delete(without, m.name)
		for _, minimums := range []map[string]float64{higher, without} {
			if got := strings.Join(failedMetrics(half, minimums, 10), " "); got != m.name {
				t.Errorf("%s: got failed metrics %q with minimums %v", m.name, got, minimums)
			}
		}
	}
}
