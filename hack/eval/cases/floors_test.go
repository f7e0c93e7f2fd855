// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

// TestFloors holds the figures of the part to measure on.
func TestFloors(t *testing.T) {
	t.Parallel()
	outcomes, err := open(t).playAll(part(t, measurePart))
	if err != nil {
		t.Fatal(err)
	}
	if names := amiss(outcomes, floors, mostMedianQuestions); len(names) > 0 {
		var out strings.Builder
		_ = printFigures(&out, measurePart, outcomes)
		t.Errorf("%s worse than the floor %v, at most %v questions:\n%s", strings.Join(names, ", "), floors, mostMedianQuestions, out.String())
	}
}

func TestAmiss(t *testing.T) {
	t.Parallel()
	half := []outcome{{covered: true, heard: true, rank: 1, Record: consultation.Record{Questions: 10}}, {}}
	half[0].Level = half[0].lowest()
	half[0].Triage = []level{{half[0].Level}}
	half[1].Triage = half[0].Triage
	met := map[string]float64{}
	for _, f := range figures {
		met[f.name] = 0.5
	}
	if got := amiss(half, met, 10); len(got) > 0 {
		t.Errorf("met floors are amiss: %v", got)
	}
	if got := strings.Join(amiss(half, met, 9.5), " "); got != "median questions" {
		t.Errorf("too many questions: got %q", got)
	}
	for _, f := range figures {
		higher, without := maps.Clone(met), maps.Clone(met)
		higher[f.name] = 0.51
		delete(without, f.name)
		for _, floors := range []map[string]float64{higher, without} {
			if got := strings.Join(amiss(half, floors, 10), " "); got != f.name {
				t.Errorf("%s: got %q by %v", f.name, got, floors)
			}
		}
	}
}
