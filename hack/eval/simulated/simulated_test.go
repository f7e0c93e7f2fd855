// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anamnesis-dev/anamnesis/apiserver/engine"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
	"github.com/anamnesis-dev/anamnesis/hack/eval/consultation"
)

var opened = sync.OnceValues(consultation.Open)

// open compiles the content once for all tests.
func open(t *testing.T) *consultation.Room {
	t.Helper()
	r, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPatientsMakeSense(t *testing.T) {
	t.Parallel()
	r := open(t).Release
	for _, p := range newDrawer(r, 0.3, 0.05, 1).each(1) {
		id := r.ConditionID(p.condition)
		c := &r.Conditions[p.condition]
		if !c.Sex.Admits(p.sex) || p.ageMonths < int(c.AgeFrom) || p.ageMonths > int(c.AgeTo) || c.Prior[p.sex][model.AgeBand(p.ageMonths)] == 0 {
			t.Errorf("%s in a patient of %d months and sex %v", id, p.ageMonths, p.sex)
		}
		inGroup := map[model.GroupIndex]int{}
		for o := range p.present {
			observation := &r.Observations[o]
			if parent := observation.Parent; parent != model.None && !p.present[parent] {
				t.Errorf("%s: %s without its parent", id, r.ObservationID(o))
			}
			if !observation.Sex.Admits(p.sex) || observation.Kind == model.LabResult {
				t.Errorf("%s: %s is not for this patient to tell", id, r.ObservationID(o))
			}
			if observation.Group != model.None && r.Groups[observation.Group].Ordered {
				inGroup[observation.Group]++
			}
		}
		for group, count := range inGroup {
			if count > 1 {
				t.Errorf("%s: %d items of the ordered group %d", id, count, group)
			}
		}
		for _, o := range p.opening {
			if !p.present[o] || p.choice(o) != engine.Present {
				t.Errorf("%s: the complaint %s is not there", id, r.ObservationID(o))
			}
		}
		if len(p.opening) == 0 || len(p.opening) > mostOpening {
			t.Errorf("%s: %d complaints", id, len(p.opening))
		}
	}
}

// The findings of the patients of a condition are there as often as the content
// says, however they hang together.
func TestSharesAreKept(t *testing.T) {
	t.Parallel()
	r := open(t).Release
	for _, correlation := range []float64{0, 0.5} {
		d := newDrawer(r, correlation, 0, 1)
		const count = 1500
		present := map[model.ObservationIndex]int{}
		condition := model.ConditionIndex(0)
		for range count {
			for o := range d.draw(condition).present {
				present[o]++
			}
		}
		for o, want := range d.shares[condition] {
			observation := &r.Observations[o]
			whole := observation.Sex == model.BothSexes && observation.AgeFrom == 0 && observation.AgeTo == model.MaxAge
			if !whole || observation.Kind != model.Symptom {
				continue
			}
			if got := float64(present[o]) / count; math.Abs(got-want) > 0.06 {
				t.Errorf("correlation %g: %s in %.3f of the patients, expected %.3f", correlation, r.ObservationID(o), got, want)
			}
		}
	}
}

func TestFindingsHangTogether(t *testing.T) {
	t.Parallel()
	spread := func(correlation float64) float64 { // the variance of how many findings there are
		d := newDrawer(open(t).Release, correlation, 0, 1)
		sum, squares, count := 0.0, 0.0, 1000.0
		for range int(count) {
			n := float64(len(d.draw(0).present))
			sum, squares = sum+n, squares+n*n
		}
		return squares/count - sum/count*sum/count
	}
	if alone, together := spread(0), spread(0.6); together < 1.2*alone {
		t.Errorf("the number of findings varies by %.2f, and by %.2f where they hang together", alone, together)
	}
}

func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	p := patient{
		present: map[model.ObservationIndex]bool{1: true, 2: true},
		wrong:   map[model.ObservationIndex]bool{2: true, 3: true},
	}
	var got []engine.Choice
	for o := range model.ObservationIndex(4) {
		got = append(got, p.choice(o))
	}
	if diff := cmp.Diff([]engine.Choice{engine.Absent, engine.Present, engine.Absent, engine.Present}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	d := newDrawer(open(t).Release, 0, 0, 1)
	counts := make([]int, 4)
	for range 10_000 {
		counts[d.pick([]float64{1, 0, 3, 0})]++
	}
	if counts[1] > 0 || counts[3] > 0 || math.Abs(float64(counts[0])/2500-1) > 0.1 {
		t.Errorf("picked %v, expected a quarter and three", counts)
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	got := claims([]outcome{{first: engine.Ranked{Probability: 0.91}, rank: 1}, {first: engine.Ranked{Probability: 0.2}, rank: 2}, {}})
	if diff := cmp.Diff([]consultation.Claim{{Probability: 0.91, Right: true}, {Probability: 0.2}, {}}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWorst(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	outcomes := []outcome{{condition: 0, rank: 1}, {condition: 1, rank: 4, under: true}, {condition: 1, rank: 1}}
	if err := printWorst(&out, open(t).Release, outcomes, 5); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(out.String(), "50 %"); got != 4 || strings.Count(out.String(), "\n") != 4 {
		t.Errorf("one condition in both lists, half of its patients, was expected:\n%s", out.String())
	}
}

// TestRun plays a few patients twice: the same seed gives the same figures.
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
	for _, want := range []string{"0 patients of each condition", "patients as often as they come: 25", "calibration", "triaged too low", "found too seldom"} {
		if !strings.Contains(first, want) {
			t.Errorf("%q is missing in\n%s", want, first)
		}
	}
	if diff := cmp.Diff(first, run()); diff != "" {
		t.Errorf("run twice (-first +second)\n%s", diff)
	}
}
