// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// assessAllocations is the most memory allocations of a call: the ranking, the
// question and its items. They do not grow with the catalogue.
const assessAllocations = 3

// patientAllocations is the most for a patient of eight pieces of evidence.
const patientAllocations = 12

func TestAllocationsHaveACeiling(t *testing.T) {
	small, large := askingRelease(t), syntheticRelease(t)
	for name, test := range map[string]struct {
		release *model.Release
		patient Patient
	}{
		"seven conditions":    {small, woman(t, small, "s_1! -s_2 s_4")},
		"a thousand, 4 there": {large, workload(t, large, 1, 4)[0]},
		"a thousand, 8 there": {large, workload(t, large, 1, 8)[0]},
	} {
		t.Run(name, func(t *testing.T) {
			e := New()
			s := e.acquire(test.release, &test.patient)
			got := testing.AllocsPerRun(50, func() { // after one run in which the memory grows
				s.prepare(test.release, &test.patient)
				if a := s.assess(Options{}); a.Question == nil {
					t.Error("no question")
				}
			})
			if got > assessAllocations {
				t.Errorf("%v allocations, ceiling %d", got, assessAllocations)
			}
		})
	}
}

func TestAPatientIsSmall(t *testing.T) {
	r := askingRelease(t)
	list := evidence("s_1! s_4 -s_5 -s_6 s_7 -s_2 p_1 ?s_14")
	got := testing.AllocsPerRun(50, func() {
		if _, err := NewPatient(r, model.Female, 480, list); err != nil {
			t.Error(err)
		}
	})
	if got > patientAllocations {
		t.Errorf("%v allocations, ceiling %d", got, patientAllocations)
	}
}
