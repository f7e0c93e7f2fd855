// SPDX-License-Identifier: Apache-2.0

//go:build !race

package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// TestInterviewsWithPatientsOfTheContent plays interviews to their very end,
// past the advice to stop, and checks every question on the way.
func TestInterviewsWithPatientsOfTheContent(t *testing.T) {
	t.Parallel()
	r, e := real(t), New()
	for c := range someConditions(r, 0) {
		random := rand.New(rand.NewPCG(uint64(c), 31))
		p, complaint, ok := drawSimulated(r, c, random)
		if !ok {
			t.Fatalf("%s brings nothing that a patient would come for", r.ConditionID(c))
		}
		p.whimsical = random.IntN(2) == 0
		o := drawOptions(random)
		v := p.converse(t, e, complaint, o, true, random)
		checkInterview(t, p, v, o)
	}
}

// TestInterviewsAreShortAndFindTheCondition plays interviews as a client does
// and holds the figures that the stop rule was tuned to, with some room for
// changes of the content.
func TestInterviewsAreShortAndFindTheCondition(t *testing.T) {
	t.Parallel()
	r, e := real(t), New()
	var lengths []int
	first, three, missed, emergencies := 0, 0, 0, 0
	for c := range someConditions(r, 1) {
		random := rand.New(rand.NewPCG(uint64(c), 32))
		for range 2 {
			p, complaint, ok := drawSimulated(r, c, random)
			if !ok {
				t.Fatalf("%s brings nothing that a patient would come for", r.ConditionID(c))
			}
			v := p.converse(t, e, complaint, Options{}, false, random)
			lengths = append(lengths, len(v.questions))
			rank := slices.IndexFunc(v.last.Conditions, func(ranked Ranked) bool { return ranked.Condition == c })
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
	// Rare conditions come as often as common ones here, which they are taken
	// for; drawn as often as they come, two in three are first.
	if share(first, n) < 0.68 || share(three, n) < 0.8 {
		t.Errorf("right condition first in %.3f, in the first three in %.3f", share(first, n), share(three, n))
	}
	if share(missed, emergencies) > 0.06 {
		t.Errorf("%.3f of the emergencies are not to be seen within a day", share(missed, emergencies))
	}
}
