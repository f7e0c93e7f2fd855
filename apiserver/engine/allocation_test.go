// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// assessAllocations is the most memory allocations of a call: the ranking, the
// question and its items. They do not grow with the catalogue. A question for a
// duration has two wordings of its own instead of items.
const (
	assessAllocations   = 3
	durationAllocations = 4
)

// patientAllocations is the most for a patient of eight pieces of evidence, and
// timedAllocations the same where two of them have a duration.
const (
	patientAllocations = 12
	timedAllocations   = 18
)

func TestAllocationsHaveACeiling(t *testing.T) {
	small, large, divided := askingRelease(t), syntheticRelease(t), dividedRelease(t)
	for name, test := range map[string]struct {
		release *model.Release
		patient Patient
		options Options
		ceiling float64
	}{
		"seven conditions":           {small, woman(t, small, "s_1! -s_2 s_4"), Options{}, assessAllocations},
		"a thousand, 4 there":        {large, workload(t, large, 1, 4)[0], Options{}, assessAllocations},
		"a thousand, 8 there":        {large, workload(t, large, 1, 8)[0], Options{}, assessAllocations},
		"a thousand, for the level":  {large, workload(t, large, 1, 4)[0], Options{Mode: ShortTriage}, assessAllocations},
		"with durations":             {divided, woman(t, divided, "s_1!@24h s_4!@24h -s_2"), withDurations, assessAllocations},
		"with a duration to ask for": {divided, woman(t, divided, "s_1!@24h s_4! -s_2"), withDurations, durationAllocations},
	} {
		t.Run(name, func(t *testing.T) {
			e, p := New(), test.patient.under(test.options)
			s := e.acquire(test.release, p)
			got := testing.AllocsPerRun(50, func() { // after one run in which the memory grows
				s.prepare(test.release, p)
				if a := s.assess(test.options); a.Question == nil {
					t.Error("no question")
				}
			})
			if got > test.ceiling {
				t.Errorf("%v allocations, ceiling %v", got, test.ceiling)
			}
		})
	}
}

// callAllocations are the most memory allocations of the other calls, at eight
// pieces of evidence. Those of an explanation and a rationale grow with the
// evidence and with the items of the question, for each of which a patient is
// made, and those of nothing grow with the catalogue.
var callAllocations = map[string]float64{"triage": 1, "recommend": 2, "suggest": 1, "explain": 60, "rationale": 12}

func TestAllocationsOfTheOtherCallsHaveACeiling(t *testing.T) {
	small, large := askingRelease(t), syntheticRelease(t)
	for name, test := range map[string]struct {
		release *model.Release
		patient Patient
	}{
		"seven conditions": {small, woman(t, small, "s_1! -s_2 s_4")},
		"a thousand":       {large, workload(t, large, 1, 4)[0]},
	} {
		e := New()
		s := e.acquire(test.release, &test.patient)
		target := s.assess(Options{}).Conditions[0].Condition
		for call, answer := range map[string]func() bool{
			"triage":    func() bool { return s.classify(Options{}).Level > model.NoTriageLevel },
			"recommend": func() bool { _, ok := s.recommend(map[uint32]uint32{1: 2}); return ok },
			"suggest":   func() bool { return s.suggestions(SuggestSymptoms, 8) != nil },
			"explain":   func() bool { _, ok := test.patient.explain(s, Options{}, target); return ok },
			"rationale": func() bool { _, ok := s.reason(Options{}); return ok },
		} {
			got := testing.AllocsPerRun(50, func() {
				s.prepare(test.release, &test.patient)
				if !answer() {
					t.Errorf("%s: no answer", call)
				}
			})
			if got > callAllocations[call] {
				t.Errorf("%s, %s: %v allocations, ceiling %v", name, call, got, callAllocations[call])
			}
		}
	}
}

func TestAPatientIsSmall(t *testing.T) {
	asking, divided := askingRelease(t), dividedRelease(t)
	for words, test := range map[string]struct {
		release *model.Release
		ceiling float64
	}{
		"s_1! s_4 -s_5 -s_6 s_7 -s_2 p_1 ?s_14":            {asking, patientAllocations},
		"s_1!@24h s_4!@24h -s_14 -s_2 s_3 -s_32 p_1 ?s_41": {divided, timedAllocations},
	} {
		list := evidence(words)
		got := testing.AllocsPerRun(50, func() {
			if _, err := NewPatient(test.release, model.Female, 480, list); err != nil {
				t.Error(err)
			}
		})
		if got > test.ceiling {
			t.Errorf("%q: %v allocations, ceiling %v", words, got, test.ceiling)
		}
	}
}
