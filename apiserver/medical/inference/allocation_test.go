// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// maxAssessAllocations is the maximum number of memory allocations of a call: the
// ranking, the question and its items. It does not grow with the catalog. A duration
// question has two texts instead of items.
const (
	maxAssessAllocations   = 3
	maxDurationAllocations = 4
)

// maxPatientAllocations is the maximum for a patient with eight pieces of evidence,
// and maxTimedPatientAllocations the same if two of them have a duration.
const (
	maxPatientAllocations      = 12
	maxTimedPatientAllocations = 18
)

func TestAssessAllocations(t *testing.T) {
	small, large, divided := newQuestionRelease(t), syntheticRelease(t), newDurationRelease(t)
	for name, test := range map[string]struct {
		release *model.Release
		patient Patient
		options Options
		ceiling float64
	}{
		"seven conditions":           {small, newFemalePatient(t, small, "s_1! -s_2 s_4"), Options{}, maxAssessAllocations},
		"a thousand, 4 there":        {large, workload(t, large, 1, 4)[0], Options{}, maxAssessAllocations},
		"a thousand, 8 there":        {large, workload(t, large, 1, 8)[0], Options{}, maxAssessAllocations},
		"a thousand, for the level":  {large, workload(t, large, 1, 4)[0], Options{Mode: ShortTriageMode}, maxAssessAllocations},
		"with durations":             {divided, newFemalePatient(t, divided, "s_1!@24h s_4!@24h -s_2"), withDurations, maxAssessAllocations},
		"with a duration to ask for": {divided, newFemalePatient(t, divided, "s_1!@24h s_4! -s_2"), withDurations, maxDurationAllocations},
	} {
		t.Run(name, func(t *testing.T) {
			e, p := New(), test.patient.forOptions(test.options)
			s := e.getScratch(test.release, p)
			got := testing.AllocsPerRun(50, func() { // after one run that grows the memory
				s.reset(test.release, p)
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

// maxCallAllocations holds the maximum number of memory allocations of the other
// calls, with eight pieces of evidence. Explanations and rationales allocate a patient
// for each piece of evidence or item of the question. No call's allocations grow with
// the catalog.
var maxCallAllocations = map[string]float64{"triage": 1, "recommend": 2, "suggest": 1, "explain": 60, "rationale": 12}

func TestCallAllocations(t *testing.T) {
	small, large := newQuestionRelease(t), syntheticRelease(t)
	for name, test := range map[string]struct {
		release *model.Release
		patient Patient
	}{
		"seven conditions": {small, newFemalePatient(t, small, "s_1! -s_2 s_4")},
		"a thousand":       {large, workload(t, large, 1, 4)[0]},
	} {
		e := New()
		s := e.getScratch(test.release, &test.patient)
		target := s.assess(Options{}).Conditions[0].Condition
		for call, answer := range map[string]func() bool{
			"triage":    func() bool { return s.classify(Options{}).Level > model.NoTriageLevel },
			"recommend": func() bool { _, ok := s.recommend(map[uint32]uint32{1: 2}); return ok },
			"suggest":   func() bool { return s.collectSuggestions(SuggestSymptoms, 8) != nil },
			"explain":   func() bool { _, ok := test.patient.explain(s, Options{}, target); return ok },
			"rationale": func() bool { _, ok := s.questionRationale(Options{}); return ok },
		} {
			got := testing.AllocsPerRun(50, func() {
				s.reset(test.release, &test.patient)
				if !answer() {
					t.Errorf("%s: no answer", call)
				}
			})
			if got > maxCallAllocations[call] {
				t.Errorf("%s, %s: %v allocations, ceiling %v", name, call, got, maxCallAllocations[call])
			}
		}
	}
}

func TestPatientAllocations(t *testing.T) {
	asking, divided := newQuestionRelease(t), newDurationRelease(t)
	for words, test := range map[string]struct {
		release *model.Release
		ceiling float64
	}{
		"s_1! s_4 -s_5 -s_6 s_7 -s_2 p_1 ?s_14":            {asking, maxPatientAllocations},
		"s_1!@24h s_4!@24h -s_14 -s_2 s_3 -s_32 p_1 ?s_41": {divided, maxTimedPatientAllocations},
	} {
		list := parseEvidence(words)
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
