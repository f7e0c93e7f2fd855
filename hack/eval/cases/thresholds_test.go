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
	for _, f := range metrics {
		met[f.name] = 0.5
	}
	if got := failedMetrics(half, met, 10); len(got) > 0 {
		t.Errorf("met floors are amiss: %v", got)
	}
	if got := strings.Join(failedMetrics(half, met, 9.5), " "); got != "median questions" {
		t.Errorf("too many questions: got %q", got)
	}
	for _, f := range metrics {
		higher, without := maps.Clone(met), maps.Clone(met)
		higher[f.name] = 0.51
		delete(without, f.name)
		for _, floors := range []map[string]float64{higher, without} {
			if got := strings.Join(failedMetrics(half, floors, 10), " "); got != f.name {
				t.Errorf("%s: got %q by %v", f.name, got, floors)
			}
		}
	}
}
