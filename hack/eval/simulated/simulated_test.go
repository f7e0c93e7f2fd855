// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/inference"
	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

var sharedInterviewer = sync.OnceValues(consultation.NewInterviewer)

// testInterviewer returns an interviewer that all tests share, because compiling the
// content is slow.
func testInterviewer(t *testing.T) *consultation.Interviewer {
	t.Helper()
	r, err := sharedInterviewer()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSampledPatientsAreConsistent(t *testing.T) {
	t.Parallel()
	r := testInterviewer(t).Release
	for _, p := range newSampler(r, 0.3, 0.05, 1).samplePerCondition(1) {
		id := r.ConditionID(p.condition)
		c := &r.Conditions[p.condition]
		if !c.Sex.Includes(p.sex) || p.ageMonths < int(c.AgeFrom) || p.ageMonths > int(c.AgeTo) || c.Prior[p.sex][model.AgeBand(p.ageMonths)] == 0 {
			t.Errorf("%s: got invalid age of %d months or sex %v", id, p.ageMonths, p.sex)
		}
		inGroup := map[model.GroupIndex]int{}
		for o := range p.present {
			observation := &r.Observations[o]
			if parent := observation.Parent; parent != model.None && !p.present[parent] {
				t.Errorf("%s: got %s without its parent", id, r.ObservationID(o))
			}
			if !observation.Sex.Includes(p.sex) || observation.Kind == model.LabResult {
				t.Errorf("%s: got %s, which does not apply to this patient", id, r.ObservationID(o))
			}
			if observation.Group != model.None && r.Groups[observation.Group].Ordered {
				inGroup[observation.Group]++
			}
		}
		for group, count := range inGroup {
			if count > 1 {
				t.Errorf("%s: got %d items of ordered group %d, want at most 1", id, count, group)
			}
		}
		for _, o := range p.opening {
			if !p.present[o] || p.answer(o) != inference.Present {
				t.Errorf("%s: complaint %s is not present", id, r.ObservationID(o))
			}
		}
		if len(p.opening) == 0 || len(p.opening) > maxComplaints {
			t.Errorf("%s: got %d complaints, want 1 to %d", id, len(p.opening), maxComplaints)
		}
	}
}

// TestSampledFrequenciesMatchContent checks that sampled patients have findings as often
// as the content states, with and without correlation.
func TestSampledFrequenciesMatchContent(t *testing.T) {
	t.Parallel()
	r := testInterviewer(t).Release
	for _, correlation := range []float64{0, 0.5} {
		d := newSampler(r, correlation, 0, 1)
		const count = 1500
		present := map[model.ObservationIndex]int{}
		condition := model.ConditionIndex(0)
		for range count {
			for o := range d.samplePatient(condition).present {
				present[o]++
			}
		}
		for o, want := range d.frequencies[condition] {
			observation := &r.Observations[o]
			general := observation.Sex == model.BothSexes && observation.AgeFrom == 0 && observation.AgeTo == model.MaxAgeMonths
			if !general || observation.Kind != model.Symptom {
				continue
			}
			if got := float64(present[o]) / count; math.Abs(got-want) > 0.06 {
				t.Errorf("correlation %g: got %s in %.3f of patients, want %.3f", correlation, r.ObservationID(o), got, want)
			}
		}
	}
}

func TestFindingsAreCorrelated(t *testing.T) {
	t.Parallel()
	// variance returns the variance of the number of findings.
	variance := func(correlation float64) float64 {
		d := newSampler(testInterviewer(t).Release, correlation, 0, 1)
		sum, squares, count := 0.0, 0.0, 1000.0
		for range int(count) {
			n := float64(len(d.samplePatient(0).present))
			sum, squares = sum+n, squares+n*n
		}
		return squares/count - sum/count*sum/count
	}
	if independent, correlated := variance(0), variance(0.6); correlated < 1.2*independent {
		t.Errorf("got variance %.2f of independent and %.2f of correlated findings, want a larger difference", independent, correlated)
	}
}

func TestMisreportedAnswers(t *testing.T) {
	t.Parallel()
	p := patient{
		present:     map[model.ObservationIndex]bool{1: true, 2: true},
		misreported: map[model.ObservationIndex]bool{2: true, 3: true},
	}
	var got []inference.Choice
	for o := range model.ObservationIndex(4) {
		got = append(got, p.answer(o))
	}
	if diff := cmp.Diff([]inference.Choice{inference.Absent, inference.Present, inference.Absent, inference.Present}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWeightedIndex(t *testing.T) {
	t.Parallel()
	d := newSampler(testInterviewer(t).Release, 0, 0, 1)
	counts := make([]int, 4)
	for range 10_000 {
		counts[d.weightedIndex([]float64{1, 0, 3, 0})]++
	}
	if counts[1] > 0 || counts[3] > 0 || math.Abs(float64(counts[0])/2500-1) > 0.1 {
		t.Errorf("got counts %v, want about 2500 and 7500", counts)
	}
}

func TestPredictions(t *testing.T) {
	t.Parallel()
	got := predictions([]outcome{{first: inference.RankedCondition{Probability: 0.91}, rank: 1}, {first: inference.RankedCondition{Probability: 0.2}, rank: 2}, {}})
	if diff := cmp.Diff([]consultation.Prediction{{Probability: 0.91, Correct: true}, {Probability: 0.2}, {}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPrintWorst(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	outcomes := []outcome{{condition: 0, rank: 1}, {condition: 1, rank: 4, undertriaged: true}, {condition: 1, rank: 1}}
	if err := printWorst(&out, testInterviewer(t).Release, outcomes, 5); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "50 %"); got != 4 || strings.Count(out.String(), "\n") != 4 {
		t.Errorf("want one condition with 50 %% in both lists, got\n%s", out.String())
	}
}

// TestRun runs a small evaluation twice and checks that the same seed produces the same
// report.
func TestRun(t *testing.T) {
	t.Parallel()
	run := func() string {
		var out bytes.Buffer
		if err := (&command{Each: 0, Population: 25, Correlation: 0.3, Wrong: 0.05, Seed: 1, Worst: 3}).Run(&out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	first := run()
	for _, want := range []string{"0 patients per condition", "patients sampled by prevalence: 25", "calibration", "undertriaged", "ranked too low"} {
		if !strings.Contains(first, want) {
			t.Errorf("output does not contain %q:\n%s", want, first)
		}
	}
	if diff := cmp.Diff(first, run()); diff != "" {
		t.Errorf("second run differs (-first +second)\n%s", diff)
	}
}
