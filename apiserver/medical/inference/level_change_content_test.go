// SPDX-License-Identifier: Apache-2.0

//go:build !race

package inference

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestShortTriageLengthAndAccuracy plays interviews for the level only with patients
// drawn from the content, continues until no question is left, and counts how often
// that changes the level.
func TestShortTriageLengthAndAccuracy(t *testing.T) {
	t.Parallel()
	r, e := contentRelease(t), New()
	o := Options{Mode: ShortTriageMode}
	var short, whole []int
	changed := 0
	for c := range someConditions(r, 5) {
		random := rand.New(rand.NewPCG(uint64(c), 36))
		p, complaint, ok := drawSimulatedPatient(r, c, random)
		if !ok {
			t.Fatalf("%s has no finding for which a patient would seek care", r.ConditionID(c))
		}
		v := p.interviewAbout(t, e, complaint, o, false, random)
		rest := p.runInterview(t, e, v.evidence, Options{}, true, random)
		short, whole = append(short, len(v.questions)), append(whole, len(v.questions)+len(rest.questions))
		if e.Triage(r, p.after(t, v.evidence), o).Level != e.Triage(r, p.after(t, rest.evidence), o).Level {
			changed++
		}
	}
	slices.Sort(short)
	slices.Sort(whole)
	n := len(short)
	t.Logf("%d interviews: median %d questions, nine in ten at most %d, of %d; the level would change in %d", n, short[n/2], short[n*9/10], whole[n/2], changed)
	if short[n/2] > 15 {
		t.Errorf("median of %d questions", short[n/2])
	}
	if 4*changed > n {
		t.Errorf("the level would change in %d of %d", changed, n)
	}
}
