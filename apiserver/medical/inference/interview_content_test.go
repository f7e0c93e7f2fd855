// SPDX-License-Identifier: Apache-2.0

//go:build !race

package inference

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// TestContentInterviews plays interviews until no question is left, even after the
// advice to stop, and checks every question.
func TestContentInterviews(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	for c := range someConditions(r, 0) {
		random := rand.New(rand.NewPCG(uint64(c), 31))
		p, complaint, ok := drawSimulatedPatient(r, c, random)
		if !ok {
			t.Fatalf("%s has no finding for which a patient would seek care", r.ConditionID(c))
		}
		p.answersRandomly = random.IntN(2) == 0
		o := drawOptions(random)
		v := p.interviewAbout(t, e, complaint, o, true, random)
		checkInterview(t, p, v, o)
	}
}

// TestInterviewLengthAndAccuracy plays interviews as a client does, and checks the
// figures that the stop rule was tuned for, with some tolerance for content changes.
func TestInterviewLengthAndAccuracy(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	var lengths []int
	first, three, missed, emergencies := 0, 0, 0, 0
	for c := range someConditions(r, 1) {
		random := rand.New(rand.NewPCG(uint64(c), 32))
		for range 2 {
			p, complaint, ok := drawSimulatedPatient(r, c, random)
			if !ok {
				t.Fatalf("%s has no finding for which a patient would seek care", r.ConditionID(c))
			}
			v := p.interviewAbout(t, e, complaint, Options{}, false, random)
			lengths = append(lengths, len(v.questions))
			rank := slices.IndexFunc(v.last.Conditions, func(ranked RankedCondition) bool { return ranked.Condition == c })
			if rank == 0 {
				first++
			}
			if rank >= 0 && rank < 3 {
				three++
			}
			if r.Conditions[c].Triage < model.Emergency {
				continue
			}
			emergencies++
			patient, err := NewPatient(r, p.sex, p.ageMonths, v.evidence)
			if err != nil {
				t.Fatal(err)
			}
			if e.Triage(r, patient, Options{}).Level < model.Consultation24 {
				missed++
			}
		}
	}
	slices.Sort(lengths)
	n := len(lengths)
	median := lengths[n/2]
	share := func(count, of int) float64 { return float64(count) / float64(of) }
	t.Logf("%d interviews: median %d questions, nine in ten at most %d; right condition first %.3f, first three %.3f; emergencies not seen within a day %.3f",
		n, median, lengths[n*9/10], share(first, n), share(three, n), share(missed, emergencies))
	if median > 18 {
		t.Errorf("median of %d questions", median)
	}
	// Rare conditions are drawn as often as common ones here, and are mistaken for them.
	// If drawn by prevalence, the right condition ranks first in two of three interviews.
	if share(first, n) < 0.68 || share(three, n) < 0.8 {
		t.Errorf("right condition first in %.3f, in the first three in %.3f", share(first, n), share(three, n))
	}
	if share(missed, emergencies) > 0.06 {
		t.Errorf("%.3f of the emergencies are not to be seen within a day", share(missed, emergencies))
	}
}
